import Baton
import BatonTrace
import Foundation
import Testing

@Suite("Plain lines of a live view")
struct LiveViewTests {
    private struct Oops: Error, CustomStringConvertible {
        let number: Int
        var description: String { "oops \(number)" }
    }

    /// Returns the lines that the view has written.
    private func lines(_ work: (AsyncOperationQueue) async throws -> Void) async throws -> [String] {
        let pipe = Pipe()
        let queue = AsyncOperationQueue(maxConcurrentOperationCount: 4)
        var options = LiveView.Options()
        options.output = pipe.fileHandleForWriting.fileDescriptor
        options.style = .lines
        let view = LiveView(of: queue, options: options)
        try await work(queue)
        await view.finish()
        try pipe.fileHandleForWriting.close()
        return String(decoding: pipe.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
            .split(separator: "\n").map(String.init)
    }

    @Test("Every root failure has a line with its error, and the others are counted")
    func everyRootFailure() async throws {
        let lines = try await lines { queue in
            var last: [AsyncOperation<Int>] = []
            for number in 0..<40 {
                let decode = AsyncOperation<Int>("decode \(number)") {
                    if number % 4 == 1 { throw Oops(number: number) }
                    return number
                }
                last.append(decode.then { $0 }.then { $0 })
            }
            for operation in last { operation.add(to: queue) }
            for operation in last { _ = try? await operation.value }
        }
        for number in stride(from: 1, to: 40, by: 4) {
            #expect(lines.contains("decode \(number) failed: oops \(number)"), "\(lines)")
        }
        #expect(lines.filter { $0.contains("failed: ") }.count == 10)
        let counted = lines.filter { $0.contains("failed because") }.compactMap { Int($0.prefix { $0.isNumber }) }
        #expect(counted.reduce(0, +) == 20, "\(lines)")
    }
}

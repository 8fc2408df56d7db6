import Baton
import BatonProcess
import Foundation
import Testing

@Suite(.timeLimit(.minutes(10))) struct InputTests {
    private let tenMegabytes: Data = {
        let piece = Data((0..<65_537).map { UInt8(truncatingIfNeeded: $0 &* 31 &+ $0 >> 8) })
        var data = Data()
        while data.count < 10_000_000 { data.append(piece) }
        return data
    }()

    @Test func withoutInputItIsAtTheEndAtOnce() async throws {
        #expect(try await Subprocess("cat").result().standardOutput.isEmpty)
        #expect(try await Subprocess("cat", input: .data(Data())).result().standardOutput.isEmpty)
    }

    @Test func tenMegabytesGoThrough() async throws {
        let result = try await Subprocess("cat", input: .data(tenMegabytes)).result()
        #expect(result.standardOutput == tenMegabytes)
    }

    @Test func aPartOfSomeDataGoesThroughFromItsFirstByte() async throws {
        let part = tenMegabytes[1_000..<2_000]
        #expect(try await Subprocess("cat", input: .data(part)).result().standardOutput == part)
    }

    @Test func aProgramNeedNotReadIt() async throws {
        let result = try await sh("exec sleep 0", input: .data(tenMegabytes)).result()
        #expect(result.status == 0)
        let closes = try await sh("exec <&-; echo closed; exit 0", input: .data(tenMegabytes)).result()
        #expect(closes.text == "closed\n")
        let first = try await Subprocess("head", arguments: ["-c", "3"], input: .data(tenMegabytes)).result()
        #expect(first.standardOutput == tenMegabytes.prefix(3))
    }

    /// Writing to a pipe without a reader raises `SIGPIPE`, which ends the process by default.
    @Test("Input that nobody reads does not end this process")
    func thatNobodyReadsItDoesNotEndThisProcess() async {
        await #expect(processExitsWith: .success) {
            Neighbours.takeBrokenPipesSeriously()
            let data = Data(count: 1_000_000)
            for _ in 0..<50 {
                _ = try await Subprocess("true", input: .data(data)).result()
            }
        }
    }

    @Test func aFileIsReadByTheProgram() async throws {
        let folder = try Folder()
        let file = try folder.write("from a file\n", to: "input")
        #expect(try await Subprocess("cat", input: .file(file)).result().text == "from a file\n")
    }

    @Test func theOutputOfAnotherOperationIsTheInput() async throws {
        let queue = AsyncOperationQueue()
        let data = AsyncOperation { Data("b\na\n".utf8) }
        #expect(try await queue.run(data.then(Subprocess("sort"))).text == "a\nb\n")
        let text = AsyncOperation { "d\nc\n" }
        #expect(try await queue.run(text.then(Subprocess("sort"))).text == "c\nd\n")
        let fixed = AsyncOperation(Subprocess("sort"), input: Data("f\ne\n".utf8))
        #expect(try await queue.run(fixed).text == "e\nf\n")
        let chain = AsyncOperation(Subprocess("printf", arguments: ["b\\na\\nb\\n"]))
            .then(Subprocess("sort")).then(Subprocess("uniq"))
        #expect(try await queue.run(chain).text == "a\nb\n")
        #expect(chain.name == "Subprocess")
    }

    @Test func aFailedProgramIsTheCauseOfTheNext() async {
        let first = AsyncOperation(sh("exit 4"))
        let next = first.then(Subprocess("sort"))
        _ = try? await AsyncOperationQueue().run(next)
        guard case .dependencyFailed(let source, _, _)? = next.error else {
            Issue.record("\(next)")
            return
        }
        #expect(source == first.reference)
        #expect(next.failure == .exited(program: "/bin/sh", status: 4, errors: ""))
    }
}

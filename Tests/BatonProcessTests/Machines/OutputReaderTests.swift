import Foundation
import Testing

@testable import BatonProcess

@Suite(.timeLimit(.minutes(10))) struct OutputReaderTests {
    /// Other processes may still have the pipe open, so the reader does not wait for its end.
    @Test func bytesLeftInThePipeOfAnEndedProgramAreRead() async throws {
        let poller = try Poller()
        let ends = try PipeEnds()
        let written = Data((0..<50_000).map { UInt8(truncatingIfNeeded: $0 / 256) })
        try FileHandle(fileDescriptor: ends.writing.number).write(contentsOf: written)
        let waits = WaitScope(poller)
        waits.close()
        var reader = OutputReader(
            end: ends.reading, waits: waits, sink: OutputSink(.collected(limit: 60_000), of: "program"))
        try await reader.run()
        #expect(reader.sink.kept == written)
        ends.writing.close()
        poller.close()
    }
}

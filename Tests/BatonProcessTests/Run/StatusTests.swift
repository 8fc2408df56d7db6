import Baton
import BatonProcess
import Foundation
import Testing

@Suite(.timeLimit(.minutes(10))) struct StatusTests {
    @Test func successLeavesItsOutput() async throws {
        let result = try await Subprocess("/bin/echo", arguments: ["one", "two three", "", "é"]).result()
        #expect(result.text == "one two three  é\n")
        #expect(result.standardError.isEmpty)
        #expect(result.termination == .exited(0))
        #expect(result.status == 0)
    }

    @Test func anotherStatusIsAnErrorWithTheEndOfStandardError() async {
        #expect(
            await sh("echo out; echo complaint >&2; exit 7").failure()
                == .exited(program: "/bin/sh", status: 7, errors: "complaint\n"))
    }

    @Test(arguments: [1, 255] as [Int32]) func acceptedStatusesAreNone(status: Int32) async throws {
        let script = sh("exit $1", "\(status)", accepted: .these(0, status))
        #expect(try await script.result().termination == .exited(status))
        let any = sh("exit $1", "\(status)", accepted: .all)
        #expect(try await any.result().status == status)
        #expect(await sh("exit 3", accepted: .these(0, status)).failure() != nil)
    }

    @Test(arguments: [6, 9, 15] as [Int32]) func aSignalIsAnErrorWhateverIsAccepted(signal: Int32) async {
        let failure = await sh("echo last words >&2; kill -$1 $$", "\(signal)", accepted: .all).failure()
        #expect(failure == .signalled(program: "/bin/sh", signal: signal, errors: "last words\n"))
    }

    @Test func theEndOfStandardErrorIsBounded() async {
        let failure = await sh("head -c 1000000 /dev/zero | tr '\\0' x >&2; echo end >&2; exit 1").failure()
        guard case .exited(_, 1, let errors)? = failure else {
            Issue.record("\(String(describing: failure))")
            return
        }
        #expect(errors.utf8.count == 4096)
        #expect(errors.hasSuffix("xxxend\n"))
    }

    @Test func theCollectedPartOfStandardError() async throws {
        let both = try await sh("echo out; echo err >&2", errors: .collected()).result()
        #expect([both.standardOutput, both.standardError] == [Data("out\n".utf8), Data("err\n".utf8)])
        let tail = try await sh("echo 123456789 >&2", errors: .tail(limit: 4)).result()
        #expect(tail.standardError == Data("789\n".utf8))
        let none = try await sh("echo out; echo err >&2", output: .discarded, errors: .discarded).result()
        #expect(none == SubprocessResult())
    }

    @Test func inheritedOutputsAreThoseOfThisProcess() async {
        let ended = await #expect(
            processExitsWith: .success, observing: [\.standardOutputContent, \.standardErrorContent]
        ) {
            let result = try await sh("echo out; echo err >&2", output: .inherited, errors: .inherited).result()
            #expect(result == SubprocessResult())
        }
        let out = String(decoding: ended?.standardOutputContent ?? [], as: UTF8.self)
        let err = String(decoding: ended?.standardErrorContent ?? [], as: UTF8.self)
        #expect(out.contains("out\n"))
        #expect(err.contains("err\n"))
    }

    @Test func mergedErrorsComeInTheirPlace() async throws {
        let merged = try await sh("echo 1; echo 2 >&2; echo 3", errors: .merged).result()
        #expect(merged.text == "1\n2\n3\n")
        #expect(await sh("echo 2 >&2; exit 1", errors: .merged).failure()?.description.hasSuffix("status 1: 2") == true)
    }

    @Test func theErrorOfTheOperationSaysWhatHappened() async {
        let operation = AsyncOperation(sh("echo no such luck >&2; exit 2"))
        AsyncOperationQueue().add(operation)
        await operation.finished()
        #expect(operation.error.map { "\($0)" } == "‘/bin/sh’ exited with status 2: no such luck")
        #expect(operation.name == "Subprocess")
    }

    @Test func aDirectCallRunsItToo() async throws {
        let result = try await Subprocess("echo", arguments: ["direct"]).execute(in: OperationContext())
        #expect(result.text == "direct\n")
    }
}

import Baton
import BatonProcess
import Foundation
import Testing

/// A program that cannot be started fails with an error that names the program and the reason.
@Suite(.timeLimit(.minutes(10))) struct RefusalTests {
    private func reason(_ failure: SubprocessError?) -> String? {
        if case .notStarted(_, let reason)? = failure { reason.description } else { nil }
    }

    @Test func aNameThatIsInNoDirectoryOfThePath() async {
        let program = Subprocess("no-such-program", environment: .custom(["PATH": "/bin:/nowhere"]))
        let failure = await program.failure()
        #expect(failure == .notFound(program: "no-such-program", searched: ["/bin", "/nowhere"]))
        #expect(
            failure?.description == "‘no-such-program’ is in none of the directories of PATH (/bin:/nowhere). "
                + "Install it, or give its whole path")
    }

    @Test("A program without a name is refused with a text that says so", arguments: ["", " "])
    func noName(name: String) async {
        let failure = await Subprocess(name, environment: .custom([:])).failure()
        #expect(
            failure?.description
                == "A program without a name was not started: give its name, to be looked up in PATH, or its path")
    }

    @Test("A name with spaces that does not exist says to pass arguments separately")
    func nameWithSpaces() async {
        let environment = ProgramEnvironment.custom(["PATH": "/bin"])
        func hint(_ example: String) -> String {
            "The name contains a space, and no shell splits it: if the rest are arguments, pass them separately, as "
                + "in `\(example)`"
        }
        let named = await Subprocess("echo hello world", environment: environment).failure()
        #expect(
            named?.description == "‘echo hello world’ is in none of the directories of PATH (/bin). "
                + hint("Subprocess(\"echo\", arguments: [\"hello\", \"world\"])"))
        let line = await Subprocess("ls | wc", environment: environment).failure()
        #expect(line?.description.hasSuffix(hint("Subprocess(\"ls\", arguments: […])")) == true)
        let path = await Subprocess("/bin/echo hello").failure()
        #expect(
            path?.description == "‘/bin/echo hello’ could not be started: No such file or directory. "
                + hint("Subprocess(\"/bin/echo\", arguments: [\"hello\"])"))
    }

    @Test func directoriesAreBytesBetweenColons() async {
        let accent = "\u{301}directory"
        let named = Subprocess("tool", environment: .custom(["PATH": "/bin:\(accent):/\(accent):bin"]))
        #expect(await named.failure() == .notFound(program: "tool", searched: ["/bin", "/\(accent)"]))
        let program = "folder/\(accent)"
        guard case .notStarted(program, _)? = await Subprocess(program).failure() else {
            Issue.record("a path is not searched for")
            return
        }
    }

    @Test func aPathWhereNothingIs() async {
        let failure = await Subprocess("/no/such/program").failure()
        #expect(failure == .notStarted(program: "/no/such/program", reason: SystemFailure(code: 2)))
        #expect(failure?.description == "‘/no/such/program’ could not be started: No such file or directory")
    }

    @Test("A file without permission to execute is refused")
    func oneThatMayNotBeRun() async throws {
        let folder = try Folder()
        let file = try folder.write("#!/bin/sh\n", to: "tool", rights: 0o644)
        #expect(reason(await Subprocess(file).failure()) == "Permission denied")
        let named = Subprocess("tool", environment: .updating(["PATH": folder.path]))
        #expect(reason(await named.failure()) == "Permission denied")
    }

    @Test func aDirectory() async throws {
        #expect(reason(await Subprocess("/tmp").failure()) == "Permission denied")
        let folder = try Folder()
        try FileManager.default.createDirectory(atPath: folder.file("tool"), withIntermediateDirectories: true)
        let named = Subprocess("tool", environment: .custom(["PATH": folder.path]))
        #expect(await named.failure() == .notFound(program: "tool", searched: [folder.path]))
    }

    @Test func aFileThatIsNoProgram() async throws {
        let folder = try Folder()
        let file = try await folder.makeProgram("just text\n", named: "text")
        #expect(reason(await Subprocess(file).failure()) == "Exec format error")
    }

    @Test func moreArgumentsThanTheSystemTakes() async {
        let program = Subprocess("true", arguments: [String(repeating: "x", count: 50_000_000)])
        #expect(reason(await program.failure()) == "Argument list too long")
    }

    @Test func aDirectoryThatCannotBeEntered() async throws {
        let folder = try Folder()
        let file = try folder.write("", to: "file")
        for (directory, code) in [(folder.file("none"), 2), (file, 20)] as [(String, Int32)] {
            #expect(
                await Subprocess("pwd", directory: directory).failure()
                    == .directoryNotEntered(
                        program: "pwd", directory: directory, reason: SystemFailure(code: code)))
        }
    }

    @Test(arguments: [
        Subprocess("a\0b"), Subprocess("true", arguments: ["a", "b\0"]), Subprocess("true", directory: "/\0"),
        Subprocess("true", environment: .custom(["": "x"])), Subprocess("true", environment: .custom(["A=B": "x"])),
        Subprocess("true", environment: .updating(["A": "\0"])), Subprocess("true", input: .file("a\0")),
        Subprocess("true", output: .file("a\0")), Subprocess("true", directory: ""),
        Subprocess("true", input: .file("")), Subprocess("true", output: .file("")),
    ])
    func textThatCannotBeHandedOver(program: Subprocess) async {
        guard case .invalidText(program.program, _)? = await program.failure() else {
            Issue.record("\(program)")
            return
        }
    }

    @Test func inputFilesThatCannotBeRead() async throws {
        let folder = try Folder()
        for (path, code) in [(folder.file("none"), 2), (folder.path, 21)] as [(String, Int32)] {
            #expect(
                await Subprocess("cat", input: .file(path)).failure()
                    == .fileNotUsable(program: "cat", path: path, reason: SystemFailure(code: code)))
        }
    }

    @Test func childrenThatThisProcessIgnoresAreNoHang() async {
        await #expect(processExitsWith: .success) {
            Neighbours.ignoreChildren()
            for _ in 0..<20 { #expect(await Subprocess("true").failure() == .statusLost(program: "true")) }
        }
    }
}

import Baton
import BatonTesting
import Foundation
import Testing

@testable import BatonProcess

@Suite(.timeLimit(.minutes(10))) struct OutputFileTests {
    private let folder: Folder

    init() throws { folder = try Folder() }

    @Test func aFileIsThereWhenTheProgramHasSucceeded() async throws {
        let result = try await sh(
            "ls $1; echo out; echo err >&2", folder.path, output: .file(folder.file("out")),
            errors: .file(folder.file("err"))
        ).result()
        #expect(result.standardOutput.isEmpty)
        #expect(folder.read("out")?.hasSuffix("out\n") == true)
        // While the program ran, the folder had two drafts and neither of the final names.
        #expect(folder.read("out")?.split(separator: "\n").filter { $0.hasSuffix(".partial") }.count == 2)
        #expect(folder.read("err") == "err\n")
        #expect(folder.names == ["err", "out"])
    }

    @Test func afterAFailureEverythingIsAsItWas() async throws {
        let file = try folder.write("old", to: "out")
        let output = StandardOutput.file(file)
        #expect(await sh("echo new; exit 1", output: output).failure() != nil)
        #expect(await sh("echo new; kill -9 $$", output: output).failure() != nil)
        #expect(await Subprocess("/nothing", output: output).failure() != nil)
        let wrong = Subprocess("true", output: output, errors: .file("/no/such/folder/x"))
        #expect(await wrong.failure() != nil)
        #expect(folder.names == ["out"])
        #expect(folder.read("out") == "old")
    }

    @Test func afterACancelEverythingIsAsItWas() async throws {
        let log = EventLog<String>()
        let operation = AsyncOperation(
            sh(
                "echo new; echo ready >&2; exec sleep 1000", output: .file(folder.file("out")),
                errors: .lines { log($0) }))
        AsyncOperationQueue().add(operation)
        await log.waitForCount(1)
        operation.cancel()
        await operation.finished()
        #expect(folder.names.isEmpty)
    }

    @Test func aFileIsReplacedAndKeepsItsRights() async throws {
        let file = try folder.write("a much longer old text", to: "out", rights: 0o600)
        _ = try await sh("echo new", output: .file(file)).result()
        #expect(folder.read("out") == "new\n")
        #expect(folder.rights(of: "out") == 0o600)
    }

    @Test(arguments: [0, 0o600, 0o644, 0o4755])
    func aDraftIsItsOwnersUntilItHasTheRightsOfTheFile(rights: Int) throws {
        let path = try folder.write("old", to: "out", rights: rights)
        var before: Int?
        let file = try OutputFile(path, appending: false) { _, _ in
            before = folder.names.first { $0.hasSuffix(".partial") }.flatMap(folder.rights)
            return 0
        }
        #expect(before.map { $0 & ~0o600 } == 0)
        file.abandon()
    }

    /// Only the superuser may change the owner of a file.
    @Test(.enabled(if: geteuid() == 0)) func aFileIsReplacedAndKeepsItsOwnerAndGroup() async throws {
        let file = try folder.write("old", to: "out", rights: 0o640)
        #expect(chown(file, 1234, 2345) == 0)
        #expect(chmod(file, 0o6750) == 0)
        _ = try await sh("echo new", output: .file(file)).result()
        #expect(folder.read("out") == "new\n")
        #expect(folder.ownerAndGroup(of: "out") == [1234, 2345])
        #expect(folder.rights(of: "out") == 0o6750)
    }

    #if os(Linux)
        @Test(.enabled(if: geteuid() == 0)) func whoeverMayNotGiveItAwayGivesNobodyTheRightsOfOthers() throws {
            let path = try folder.write("old", to: "out", rights: 0o640)
            #expect(chown(path, 1234, 2345) == 0)
            #expect(chmod(path, 0o6754) == 0)
            #expect(chmod(folder.path, 0o777) == 0)
            let file = try asUser(3456) { try OutputFile(path, appending: false) }
            try file.putInPlace()
            #expect(folder.ownerAndGroup(of: "out") == [3456, 0])
            #expect(folder.rights(of: "out") == 0o704)
        }

        /// Calls `body` while this thread accesses files as another user.
        private func asUser<Value>(_ user: UInt32, _ body: () throws -> Value) throws -> Value {
            typealias Function = @convention(c) (UInt32) -> Int32
            let symbol = try #require(dlsym(nil, "setfsuid"))
            let become = unsafeBitCast(symbol, to: Function.self)
            let former = UInt32(bitPattern: become(user))
            defer { _ = become(former) }
            return try body()
        }
    #endif

    @Test func aFileThatNobodyMayOpenStaysOne() async throws {
        let file = try folder.write("old", to: "out", rights: 0)
        _ = try await sh("echo new", output: .file(file)).result()
        #expect(folder.rights(of: "out") == 0)
    }

    @Test func aLinkStaysOneAndItsFileIsReplaced() async throws {
        let file = try folder.write("old", to: "file")
        try FileManager.default.createSymbolicLink(atPath: folder.file("link"), withDestinationPath: file)
        _ = try await sh("echo new", output: .file(folder.file("link"))).result()
        #expect(folder.read("file") == "new\n")
        #expect(try FileManager.default.destinationOfSymbolicLink(atPath: folder.file("link")) == file)
    }

    @Test(arguments: [nil, "a much longer old text"])
    func bothOutputsOfOneFileAreInIt(old: String?) async throws {
        try FileManager.default.createSymbolicLink(atPath: folder.file("here"), withDestinationPath: folder.path)
        let file = folder.file("out")
        for other in ["out", "./out", "here/out"] {
            if let old { _ = try folder.write(old, to: "out") }
            let script = "echo 1; echo 2 >&2; ls $1; echo 3"
            _ = try await sh(script, folder.path, output: .file(file), errors: .file(folder.file(other))).result()
            let lines = folder.read("out")?.split(separator: "\n") ?? []
            #expect(lines.filter { $0.count == 1 } == ["1", "2", "3"], "\(other)")
            #expect(lines.filter { $0.hasSuffix(".partial") }.count == 1)
            #expect(folder.names == ["here", "out"])
            if old == nil { try FileManager.default.removeItem(atPath: file) }
        }
    }

    @Test func outputAppendedToAReplacedFileIsInTheNewFile() async throws {
        let file = try folder.write("old", to: "out")
        for (output, errors) in [(.file(file), .appending(to: file)), (.appending(to: file), .file(file))]
            as [(StandardOutput, StandardError)]
        {
            _ = try await sh("echo 1; echo 2 >&2; echo 3", output: output, errors: errors).result()
            #expect(folder.read("out") == "1\n2\n3\n")
        }
        let failing = sh("echo new; exit 1", output: .appending(to: file), errors: .file(file))
        #expect(await failing.failure() != nil)
        #expect(folder.read("out") == "1\n2\n3\n")
        #expect(folder.names == ["out"])
    }

    @Test func twoNamesOfOneFileAreReplacedOneByOne() async throws {
        let file = try folder.write("old", to: "out")
        try FileManager.default.linkItem(atPath: file, toPath: folder.file("err"))
        _ = try await sh("echo 1; echo 2 >&2", output: .file(file), errors: .file(folder.file("err"))).result()
        #expect(folder.read("out") == "1\n")
        #expect(folder.read("err") == "2\n")
    }

    @Test func appendedTextStaysWhateverComes() async throws {
        let file = folder.file("log")
        _ = try await sh("echo one", output: .appending(to: file)).result()
        #expect(await sh("echo two; exit 1", output: .appending(to: file)).failure() != nil)
        _ = try await sh("echo three >&2", errors: .appending(to: file)).result()
        #expect(folder.read("log") == "one\ntwo\nthree\n")
    }

    @Test func directoriesAreNoTargets() async {
        for path in [folder.path, folder.file("none/out")] {
            guard case .fileNotUsable("echo", path, _)? = await Subprocess("echo", output: .file(path)).failure()
            else {
                Issue.record("\(path)")
                continue
            }
        }
        #expect(folder.names.isEmpty)
    }

    @Test(.enabled(if: FileManager.default.fileExists(atPath: "/dev/full")))
    func aFullDiskIsTheProgramsFailure() async {
        let failure = await Subprocess("head", arguments: ["-c", "1000000", "/dev/zero"], output: .file("/dev/full"))
            .failure()
        guard case .exited("head", _, let errors)? = failure else {
            Issue.record("\(String(describing: failure))")
            return
        }
        #expect(errors.contains("No space left"))
    }

    @Test(.enabled(SmallDisk.whyNot) { await SmallDisk.isPossible() })
    func aDiskThatBecomesFullIsTheProgramsFailureAndLeavesNothing() async throws {
        let disk = try await SmallDisk()
        _ = try disk.folder.write("old", to: "out")
        let output = StandardOutput.file(disk.folder.file("out"))
        let failure = await Subprocess("head", arguments: ["-c", "5000000", "/dev/zero"], output: output).failure()
        let (names, content) = (disk.folder.names, disk.folder.read("out"))
        await disk.remove()
        guard case .exited("head", _, let errors)? = failure else {
            Issue.record("\(String(describing: failure))")
            return
        }
        #expect(errors.contains("No space left"))
        #expect(names == ["out"] && content == "old")
    }

    @Test func muchOutputGoesIntoAFile() async throws {
        _ = try await Subprocess(
            "head", arguments: ["-c", "50000000", "/dev/zero"], output: .file(folder.file("out"))
        ).result()
        let size = try FileManager.default.attributesOfItem(atPath: folder.file("out"))[.size] as? Int
        #expect(size == 50_000_000)
    }

    @Test func aNamedPipeThatNobodyReadsIsAnError() async throws {
        let path = folder.file("fifo")
        _ = try await Subprocess("mkfifo", arguments: [path]).result()
        guard case .fileNotUsable("echo", path, _)? = await Subprocess("echo", output: .file(path)).failure() else {
            Issue.record("not an error")
            return
        }
    }
}

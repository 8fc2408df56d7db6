import Baton
import BatonProcess
import Foundation
import Testing

/// Tests of the environment, directory, descriptors and signals that a program inherits.
@Suite(.timeLimit(.minutes(10))) struct SurroundingsTests {
    @Test func theEnvironmentIsInherited() async throws {
        let text = try await Subprocess("env").result().text
        #expect(text.contains("PATH=\(ProcessInfo.processInfo.environment["PATH"] ?? "?")\n"))
    }

    @Test func anEnvironmentOfItsOwn() async throws {
        let environment = ProgramEnvironment.custom(["A": "1 é", "B": "="])
        let text = try await Subprocess("/usr/bin/env", environment: environment).result().text
        #expect(text.split(separator: "\n").sorted() == ["A=1 é", "B=="])
        // Without PATH in its environment, the program is looked up in a default path.
        #expect(try await Subprocess("env", environment: .custom([:])).result().text.isEmpty)
    }

    @Test func anUpdatedEnvironment() async throws {
        let changes = ["BATON_A": "a", "HOME": "/here", "PATH": nil]
        let text = try await Subprocess("/usr/bin/env", environment: .updating(changes)).result().text
        let lines = text.split(separator: "\n")
        #expect(lines.contains("BATON_A=a"))
        #expect(lines.filter { $0.hasPrefix("HOME=") } == ["HOME=/here"])
        #expect(!lines.contains { $0.hasPrefix("PATH=") })
        let others = ProcessInfo.processInfo.environment.keys.filter { !["PATH", "HOME", "BATON_A"].contains($0) }
        #expect(lines.count >= others.count)
    }

    @Test func aValueThatBeginsWithACombiningMarkIsNoPartOfTheName() async throws {
        await #expect(processExitsWith: .success) {
            Neighbours.setVariable("BATON_SECRET", to: "\u{301}abc")
            func lines(_ changes: [String: String?]) async throws -> [String] {
                try await Subprocess("env", environment: .updating(changes)).result().text.split(separator: "\n")
                    .map(String.init).filter { $0.utf8.starts(with: "BATON_SECRET".utf8) }
            }
            let (before, without, updated) = (
                try await lines([:]), try await lines(["BATON_SECRET": nil]), try await lines(["BATON_SECRET": "new"])
            )
            #expect(before == ["BATON_SECRET=\u{301}abc"])
            #expect(without == [])
            #expect(updated == ["BATON_SECRET=new"])
        }
        let folder = try Folder()
        _ = try await folder.makeProgram("#!/bin/sh\necho mine\n", named: "tool")
        let tool = Subprocess("tool", environment: .custom(["PATH": "\u{301}:\(folder.path)"]))
        #expect(try await tool.result().text == "mine\n")
    }

    @Test func variablesWhoseNamesDifferInTheirBytesOnlyAreTwo() async throws {
        await #expect(processExitsWith: .success) {
            Neighbours.setVariable("BATON_\u{65}\u{301}", to: "decomposed")
            let environment = ProgramEnvironment.updating(["BATON_\u{E9}": "composed"])
            let text = try await Subprocess("env", environment: environment).result().text
            #expect(text.split(separator: "\n").filter { $0.hasSuffix("composed") }.count == 2)
        }
    }

    @Test func theProgramIsLookedUpInThePathThatItGets() async throws {
        let folder = try Folder()
        let none = folder.file("none")
        _ = try await folder.makeProgram("#!/bin/sh\necho mine\n", named: "tool")
        let tool = Subprocess("tool", environment: .updating(["PATH": "\(none):relative::\(folder.path):/bin"]))
        #expect(try await tool.result().text == "mine\n")
    }

    @Test("A program starts in its directory")
    func itBeginsInItsDirectory() async throws {
        let folder = try Folder()
        #expect(try await Subprocess("pwd", directory: folder.path).result().text == "\(folder.path)\n")
        _ = try await folder.makeProgram("#!/bin/sh\necho $0\n", named: "tool")
        #expect(try await Subprocess("./tool", directory: folder.path).result().text == "./tool\n")
        #expect(try await Subprocess("pwd").result().text == "\(FileManager.default.currentDirectoryPath)\n")
    }

    @Test("A program inherits only the three standard descriptors")
    func itGetsNoDescriptorButThree() async throws {
        let inheritable = Neighbours.openInheritable()
        defer { Neighbours.close(inheritable) }
        let text = try await Subprocess("ls", arguments: ["/dev/fd/"]).result().text
        // Descriptor 3 belongs to `ls` itself, for the directory that it lists.
        #expect(text.split(separator: "\n") == ["0", "1", "2", "3"])
    }

    @Test("The signals of a program have their default actions")
    func itsSignalsAreAtTheirDefaults() async throws {
        await #expect(processExitsWith: .success) {
            Neighbours.ignoreBrokenPipes()
            // `yes` would never end if it ignored its broken pipe.
            let text = try await sh("yes | head -n 1").result().text
            #expect(text == "y\n")
            let failure = await sh("kill -PIPE $$").failure()
            #expect(failure == .signalled(program: "/bin/sh", signal: 13, errors: ""))
        }
    }

    @Test("The input of a program is a pipe that can be opened by name")
    func itsInputIsAPipeThatCanBeOpenedByName() async throws {
        let program = Subprocess("cat", arguments: ["/dev/stdin"], input: .text("by name"))
        #expect(try await program.result().text == "by name")
    }
}

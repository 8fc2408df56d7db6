import Foundation
import Testing

/// Tests of Ctrl-C.
@Suite struct InterruptionTests {
    @Test func theFirstOneStopsInGoodOrderAndLeavesNoPartOfAPicture() async throws {
        let workshop = try Workshop()
        try workshop.write(TestPicture.tiff(), to: "served/a.tif")
        let picture = TestPicture.tiff(width: 1500, height: 1000)
        for number in 1...12 { try workshop.write(picture, to: "many/\(number).tif") }
        let server = try PictureServer(serving: workshop.file("served"))

        let program = try Interactive(workshop, ["--jobs", "2", "\(server.address)/hold/a.tif", "many"])
        server.waitUntilHolding()
        program.interrupt()
        let run = program.waitUntilExit()
        #expect(run.status == 130)
        #expect(run.errors.contains("stopping…"))
        #expect(run.output.contains("a.tif: cancelled"))
        #expect(run.output.contains("cancelled, in "))
        // All files are complete, and there are no temporary files.
        let names = workshop.names()
        #expect(names.count < 12)
        #expect(names.allSatisfy { $0.hasSuffix(".jpg") }, "\(names)")
        let again = try await workshop.run("many")
        #expect(again.output.contains("\(12 - names.count) made"), "\(again.output) \(names)")
    }

    @Test func theSecondOneEndsAtOnce() async throws {
        let workshop = try Workshop()
        try workshop.write(TestPicture.tiff(), to: "served/a.tif")
        // A fake Graphviz that does not end as long as its parent runs.
        let script = "#!/bin/sh\nwhile kill -0 $PPID 2>/dev/null; do sleep 0.1; done\n"
        let tool = try workshop.write(Data(script.utf8), to: "tools/dot")
        try FileManager.default.setAttributes([.posixPermissions: 0o755], ofItemAtPath: tool.path)
        let server = try PictureServer(serving: workshop.file("served"))

        let path = "\(workshop.file("tools").path):\(ProcessInfo.processInfo.environment["PATH"] ?? "")"
        let program = try Interactive(workshop, ["--graph", "graph.svg", "\(server.address)/hold/a.tif"], path: path)
        server.waitUntilHolding()
        program.interrupt()
        program.waitForOutput("1 cancelled")
        program.interrupt()
        #expect(program.waitUntilExit().status == 130)
        #expect(workshop.names(in: ".").contains("graph.svg") == false)
    }
}

/// The running program.
private final class Interactive {
    private let process = Process()
    private let output = Pipe()
    private let errors = Pipe()
    private var said = Data()

    init(_ workshop: Workshop, _ arguments: [String], path: String? = nil) throws {
        process.executableURL = URL(fileURLWithPath: Workshop.program)
        process.arguments = arguments
        process.currentDirectoryURL = workshop.folder
        if let path { process.environment = ProcessInfo.processInfo.environment.merging(["PATH": path]) { $1 } }
        process.standardOutput = output
        process.standardError = errors
        try process.run()
    }

    func interrupt() { kill(process.processIdentifier, SIGINT) }

    func waitForOutput(_ text: String) {
        while !String(decoding: said, as: UTF8.self).contains(text) {
            let more = output.fileHandleForReading.availableData
            if more.isEmpty { return }
            said += more
        }
    }

    func waitUntilExit() -> Workshop.Run {
        said += output.fileHandleForReading.readDataToEndOfFile()
        let errors = errors.fileHandleForReading.readDataToEndOfFile()
        process.waitUntilExit()
        return Workshop.Run(
            status: process.terminationReason == .exit ? process.terminationStatus : nil,
            output: String(decoding: said, as: UTF8.self), errors: String(decoding: errors, as: UTF8.self))
    }
}

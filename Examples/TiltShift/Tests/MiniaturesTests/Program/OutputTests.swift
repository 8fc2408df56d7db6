import Foundation
import Testing

/// Tests where miniatures, reports and graphs are written.
@Suite struct OutputTests {
    private func workshop() throws -> Workshop {
        let workshop = try Workshop()
        try workshop.write(TestPicture.tiff(width: 900, height: 600), to: "a.tif")
        try workshop.write(TestPicture.tiff(), to: "b.tif")
        return workshop
    }

    @Test func anOutputThatCannotBeWrittenFailsAlone() async throws {
        let workshop = try workshop()
        try workshop.makeFolder("miniatures/a.jpg/in the way")
        let run = try await workshop.run("--force", "a.tif", "b.tif")
        #expect(run.status == 1)
        #expect(run.outputLines[0].contains("a.tif: cannot be written to"), "\(run)")
        #expect(run.outputLines[1].hasPrefix("b.tif → "))

        try workshop.write(Data(), to: "file")
        let other = try await workshop.run("--out", "file/miniatures", "a.tif")
        #expect(other.status == 1)
        #expect(other.outputLines[0].contains("cannot be written to"), "\(other)")
    }

    @Test(.enabled(if: SmallDisk.isPossible, SmallDisk.whyNot))
    func aFullDiskFailsWhatDoesNotFitAndLeavesNothingOfIt() async throws {
        let workshop = try workshop()
        try workshop.write(TestPicture.noise(width: 1000, height: 600), to: "a.tif")
        let disk = try SmallDisk()
        let run = try await workshop.run("--format", "png", "--blur", "0", "--out", disk.url.path, "a.tif", "b.tif")
        #expect(run.status == 1)
        #expect(run.outputLines[0].hasSuffix("No space left on device"), "\(run)")
        #expect(disk.names == ["b.png"])
    }

    @Test func reportGraphAndJSONTellWhatHappened() async throws {
        let workshop = try workshop()
        try workshop.write(Data("words".utf8), to: "<bad & \"name\">.jpg")
        let run = try await workshop.run(
            "--json", "--report", "report.html", "--graph", "graph.dot", "a.tif", "<bad & \"name\">.jpg")
        #expect(run.status == 1)
        let json = try #require(try JSONSerialization.jsonObject(with: Data(run.output.utf8)) as? [String: Any])
        let pictures = try #require(json["pictures"] as? [[String: Any]])
        #expect(pictures.map { $0["outcome"] as? String } == ["made", "failed"])
        #expect(pictures[0]["width"] as? Int == 900)
        let stages = try #require(pictures[0]["stages"] as? [String: Double])
        #expect(Set(stages.keys).isSuperset(of: ["read", "tilt shift", "save"]))
        #expect(stages.values.allSatisfy { $0 >= 0 })

        let page = try String(decoding: Data(contentsOf: workshop.file("report.html")), as: UTF8.self)
        #expect(page.components(separatedBy: "data:image/jpeg;base64,").count == 3)
        #expect(page.contains("&lt;bad &amp; &quot;name&quot;&gt;.jpg"))
        #expect(!page.contains("<bad"))
        #expect(page.contains("srcdoc="))
        let graph = try String(decoding: Data(contentsOf: workshop.file("graph.dot")), as: UTF8.self)
        #expect(graph.contains("tilt shift · a.tif"))

        for kind in ["mmd", "svg"] {
            let more = try await workshop.run("--force", "--graph", "graph.\(kind)", "a.tif")
            if more.status != 0 { #expect(kind == "svg" && more.errors.contains("Graphviz"), "\(more)") }
        }
    }

    @Test func aReportThatCannotBeWrittenIsAFailure() async throws {
        let workshop = try workshop()
        try workshop.write(Data(), to: "nowhere")
        let run = try await workshop.run("--report", "nowhere/report.html", "--graph", "nowhere/graph.dot", "a.tif")
        #expect(run.status == 1)
        #expect(run.errorLines.count == 2, "\(run)")
        #expect(run.errorLines[0] == "tiltshift: the report cannot be written to nowhere/report.html: File exists")
        #expect(workshop.names() == ["a.jpg"])
    }
}

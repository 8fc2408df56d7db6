import Foundation
import Testing

/// Tests of pictures on servers.
@Suite struct ServerTests {
    private let workshop: Workshop
    private let server: PictureServer

    init() throws {
        workshop = try Workshop()
        try workshop.write(TestPicture.tiff(width: 300, height: 200), to: "served/a.tif")
        server = try PictureServer(serving: workshop.file("served"))
    }

    @Test func aPictureOnAServerIsMadeAndAgainWhenItHasChanged() async throws {
        let address = "\(server.address)/a.tif"
        let old = [FileAttributeKey.modificationDate: Date(timeIntervalSinceNow: -100)]
        try FileManager.default.setAttributes(old, ofItemAtPath: workshop.file("served/a.tif").path)
        #expect(try await workshop.run(address).output.contains("a.tif → miniatures/a.jpg"))
        #expect(try await workshop.run(address).outputLines.first == "a.tif: is up to date")
        let new = [FileAttributeKey.modificationDate: Date(timeIntervalSinceNow: 100)]
        try FileManager.default.setAttributes(new, ofItemAtPath: workshop.file("served/a.tif").path)
        #expect(try await workshop.run(address).output.contains("1 made"))
    }

    @Test func serversThatFailFailTheirPicturesAlone() async throws {
        let address = server.address
        let run = try await workshop.run(
            "--retries", "1", "--timeout", "20", "\(address)/missing.tif", "\(address)/drop/a.tif",
            "http://127.0.0.1:1/b.tif",
            "ftp://127.0.0.1/c.tif", "http://", "\(address)/a.tif")
        #expect(run.status == 1)
        #expect(run.outputLines.count == 7, "\(run)")
        #expect(run.outputLines[0] == "missing.tif: the server answered 404")
        #expect(run.outputLines[1].hasPrefix("a.tif: the connection ended"))
        #expect(run.outputLines[2].hasPrefix("b.tif: the connection was refused"))
        #expect(run.outputLines[3].hasPrefix("c.tif: ‘ftp://127.0.0.1/c.tif’ is not an address"))
        #expect(run.outputLines[4].hasPrefix("http://: ‘http://’ is not an address"))
        #expect(run.outputLines[6].hasPrefix("1 made, 5 failed"))
    }

    @Test func whatWasDroppedIsFetchedAgain() async throws {
        let run = try await workshop.run("--json", "\(server.address)/once/a.tif")
        #expect(run.status == 0, "\(run)")
        #expect(workshop.names() == ["a.jpg"])
        let none = try await workshop.run("--retries", "0", "--force", "\(server.address)/drop/a.tif")
        #expect(none.status == 1)
    }

    @Test func aServerThatTakesTooLongIsGivenUp() async throws {
        let run = try await workshop.run("--retries", "0", "--timeout", "0.3", "\(server.address)/hold/a.tif")
        #expect(run.status == 1)
        #expect(run.outputLines.first?.contains("took longer than its deadline") == true, "\(run)")
    }
}

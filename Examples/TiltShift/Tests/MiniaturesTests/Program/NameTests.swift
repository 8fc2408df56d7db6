import Foundation
import Testing

@testable import Miniatures

/// Tests of the names of pictures and miniatures.
@Suite struct NameTests {
    @Test func spacesAndEmojiAreNamesLikeOthers() async throws {
        let workshop = try Workshop()
        try workshop.write(TestPicture.tiff(), to: "my holidays/day 1 🚂.tif")
        let run = try await workshop.run("my holidays")
        #expect(run.status == 0, "\(run)")
        #expect(run.outputLines.first?.hasPrefix("day 1 🚂.tif → miniatures/day 1 🚂.jpg (") == true)
        #expect(workshop.names() == ["day 1 🚂.jpg"])
    }

    @Test func picturesOfTheSameNameAreToldApart() async throws {
        let workshop = try Workshop()
        for name in ["a/x.tif", "b/x.tif", "b/X.tiff"] { try workshop.write(TestPicture.tiff(), to: name) }
        let arguments = ["a", "b/x.tif", "b/X.tiff"]
        let run = try await workshop.run(arguments)
        #expect(run.status == 0, "\(run)")
        #expect(workshop.names() == ["X-3.jpg", "x-2.jpg", "x.jpg"])
        #expect(try await workshop.run(arguments).output.contains("3 up to date"))
    }

    @Test func aPictureThatIsNamedTwiceIsDoneOnce() async throws {
        let workshop = try Workshop()
        try workshop.write(TestPicture.tiff(), to: "a/x.tif")
        try FileManager.default.createSymbolicLink(
            atPath: workshop.file("link.tif").path, withDestinationPath: workshop.file("a/x.tif").path)
        let run = try await workshop.run("a/x.tif", "a/../a/x.tif", "a", "link.tif")
        #expect(run.status == 0)
        #expect(run.output.contains("1 made, 3 named twice"))
        #expect(workshop.names() == ["x.jpg"])
    }

    @Test func onlyWhatIsOutOfDateIsMade() async throws {
        let workshop = try Workshop()
        let file = try workshop.write(TestPicture.tiff(), to: "x.tif")
        for format in ["jpeg", "png", "webp"] {
            let arguments = ["--format", format, "x.tif"]
            #expect(try await workshop.run(arguments).output.contains("1 made"))
            #expect(try await workshop.run(arguments).output.contains("1 up to date"))
            #expect(try await workshop.run(arguments + ["--force"]).output.contains("1 made"))
            #expect(try await workshop.run(arguments + ["--blur", "2"]).output.contains("1 made"))
            #expect(try await workshop.run(arguments + ["--blur", "2"]).output.contains("1 up to date"))
        }
        try FileManager.default.setAttributes(
            [.modificationDate: Date(timeIntervalSinceNow: 60)], ofItemAtPath: file.path)
        #expect(try await workshop.run("x.tif").output.contains("1 made"))
    }

    @Test func theMiniatureOfAnotherPictureOfThatNameIsNotUpToDate() async throws {
        let workshop = try Workshop()
        try workshop.write(TestPicture.tiff(), to: "a/x.tif")
        try workshop.write(TestPicture.tiff(width: 99), to: "b/x.tif")
        #expect(try await workshop.run("a").output.contains("160 × 100"))
        #expect(try await workshop.run("b").output.contains("99 × 100"))
        #expect(try await workshop.run("b").output.contains("1 up to date"))
    }

    @Test func whatSomebodyElseHasMadeIsReplacedByForceOnly() async throws {
        let workshop = try Workshop()
        try workshop.write(TestPicture.tiff(), to: "x.tif")
        try workshop.write(Data("precious".utf8), to: "miniatures/x.jpg")
        let run = try await workshop.run("x.tif")
        #expect(run.status == 1)
        #expect(run.outputLines.first?.contains("which was not made by tiltshift: use --force") == true, "\(run)")
        #expect(try Data(contentsOf: workshop.file("miniatures/x.jpg")) == Data("precious".utf8))
        let photograph = try await Picture.decoding(TestPicture.tiff()).encoded(
            as: .jpeg, quality: 90, software: "Camera 1")
        try workshop.write(photograph, to: "miniatures/x.jpg")
        #expect(try await workshop.run("x.tif").status == 1)
        #expect(try Data(contentsOf: workshop.file("miniatures/x.jpg")) == photograph)
        #expect(try await workshop.run("--force", "x.tif").status == 0)
    }

    @Test func aPictureIsNeverReplacedByItsMiniature() async throws {
        let workshop = try Workshop()
        try workshop.write(TestPicture.tiff(), to: "x.tif")
        _ = try await workshop.run("--out", ".", "x.tif")
        let before = try Data(contentsOf: workshop.file("x.jpg"))
        let run = try await workshop.run("--force", "--out", ".", "x.jpg")
        #expect(run.status == 1)
        #expect(run.outputLines.first?.contains("would be replaced by its own miniature") == true, "\(run)")
        #expect(try Data(contentsOf: workshop.file("x.jpg")) == before)
    }
}

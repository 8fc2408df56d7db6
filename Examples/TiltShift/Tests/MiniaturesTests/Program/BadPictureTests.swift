import Foundation
import Testing

/// A picture that cannot be processed fails with one line, and the others are made.
@Suite struct BadPictureTests {
    @Test func eachKindOfBadPictureFailsAloneWithOneLine() async throws {
        let workshop = try Workshop()
        try workshop.write(TestPicture.tiff(width: 400, height: 300), to: "good.tif")
        _ = try await workshop.run("--out", "encoded", "good.tif")
        let jpeg = try Data(contentsOf: workshop.file("encoded/good.jpg"))
        try workshop.write(Data("no picture, only words".utf8), to: "words.jpg")
        try workshop.write(Data("GIF89a".utf8) + Data(count: 100), to: "old.gif")
        try workshop.write(jpeg.prefix(jpeg.count / 2), to: "cut.jpg")
        try workshop.write(jpeg.prefix(20), to: "stump.jpg")
        try workshop.write(Data(), to: "empty.png")
        try workshop.write(TestPicture.promise(width: 20_000, height: 20_000), to: "huge.tif")
        try workshop.makeFolder("nothing")
        try workshop.write(Data("text".utf8), to: "nothing/readme.txt")
        // Reading this file fails for every user, including the superuser.
        try FileManager.default.createSymbolicLink(
            atPath: workshop.file("unreadable.jpg").path, withDestinationPath: "/proc/self/mem")
        try FileManager.default.createSymbolicLink(
            atPath: workshop.file("endless.jpg").path, withDestinationPath: "/dev/zero")

        let run = try await workshop.run(
            "words.jpg", "old.gif", "cut.jpg", "stump.jpg", "empty.png", "huge.tif", "nothing", "unreadable.jpg",
            "endless.jpg",
            "missing.jpg", "good.tif")
        #expect(run.status == 1)
        #expect(run.errors.isEmpty, "\(run.errors)")
        #expect(
            run.outputLines.dropLast() == [
                "nothing: has no pictures in it",
                "words.jpg: is not a picture: JPEG, PNG, WebP and TIFF can be read",
                "old.gif: is not a picture: JPEG, PNG, WebP and TIFF can be read",
                "cut.jpg: is damaged or cut short",
                "stump.jpg: is damaged or cut short",
                "empty.png: is empty",
                "huge.tif: has 20000 × 20000 pixels: at most 120 million can be worked with",
                "unreadable.jpg: cannot be read: Input/output error",
                "endless.jpg: is not a file that could be read to its end",
                "missing.jpg: cannot be read: No such file or directory",
                run.outputLines[10],
            ])
        #expect(run.outputLines[10].hasPrefix("good.tif → miniatures/good.jpg (400 × 300, "))
        #expect(run.outputLines.last?.hasPrefix("1 made, 10 failed, in ") == true)
        #expect(workshop.names() == ["good.jpg"])
    }

    @Test func aFileThatMayNotBeReadFailsAlone() async throws {
        // The superuser may read every file.
        guard geteuid() != 0 else { return }
        let workshop = try Workshop()
        let file = try workshop.write(TestPicture.tiff(), to: "secret.tif")
        try FileManager.default.setAttributes([.posixPermissions: 0], ofItemAtPath: file.path)
        let run = try await workshop.run("secret.tif")
        #expect(run.status == 1)
        #expect(run.outputLines.first == "secret.tif: cannot be read: Permission denied")
    }
}

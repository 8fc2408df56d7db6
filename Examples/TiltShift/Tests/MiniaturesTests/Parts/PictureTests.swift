import Foundation
import Testing

@testable import Miniatures

/// Tests of decoding, the effect and encoding.
@Suite struct PictureTests {
    private let squares = TestPicture.tiff(width: 300, height: 200)

    @Test(arguments: PictureFormat.allCases) func everyFormatIsWrittenAndRead(format: PictureFormat) async throws {
        let picture = try await Picture.decoding(squares)
        #expect(picture.width == 300 && picture.height == 200)
        let data = try picture.encoded(as: format, quality: 90, software: "tiltshift test")
        let again = try await Picture.decoding(data)
        #expect(again.width == 300 && again.height == 200)

        let workshop = try Workshop()
        let file = try workshop.write(data, to: "x.\(format.fileExtension)")
        #expect(try Picture.software(ofFile: file.path) == "tiltshift test")
    }

    @Test func anythingElseHasNoSoftware() throws {
        let workshop = try Workshop()
        #expect(try Picture.software(ofFile: workshop.write(squares, to: "a.tif").path) == nil)
        #expect(try Picture.software(ofFile: workshop.write(Data("words".utf8), to: "b.jpg").path) == nil)
        #expect(try Picture.software(ofFile: workshop.file("missing").path) == nil)
    }

    @Test func theBandStaysSharpAndTheRestIsBlurred() async throws {
        var look = Look()
        (look.focus, look.band, look.blur, look.saturation) = (50, 20, 3, 1)
        let sharp = try await Picture.decoding(squares)
        let blurred = try await sharp.tiltShifted(look)
        let (before, after) = (try Grey(sharp), try Grey(blurred))
        for row in [82, 100, 118] { #expect(before.contrast(row) == after.contrast(row)) }
        for row in [5, 40, 160, 195] { #expect(after.contrast(row) < before.contrast(row) / 10) }
        #expect(after.contrast(70) < after.contrast(75))
    }

    @Test func halfWayOutOfTheBandTheBlurIsHalf() async throws {
        var look = Look()
        (look.focus, look.band, look.blur, look.saturation) = (50, 20, 0.5, 1)
        let blurred = try await Grey(Picture.decoding(squares).tiltShifted(look))
        #expect(blurred.contrast(139) > blurred.contrast(195) * 3 / 2)
    }

    @Test func saturationZeroIsGrey() async throws {
        var look = Look()
        (look.blur, look.saturation) = (0, 0)
        let grey = try await Picture.decoding(squares).tiltShifted(look)
        let pixels = try grey.samples()
        for index in stride(from: 0, to: pixels.count, by: 3) {
            #expect(Set(pixels[index..<index + 3]).count == 1)
        }
    }

    @Test func aLookThatChangesNothingChangesNothing() async throws {
        var look = Look()
        (look.blur, look.saturation) = (0, 1)
        let picture = try await Picture.decoding(squares)
        #expect(try await picture.tiltShifted(look).samples() == picture.samples())
    }

    @Test func aColourProfileIsKept() async throws {
        // The profile consists of the head of an ICC profile, without tags.
        var profile = Data(count: 132)
        profile[3] = 132
        profile[8] = 4
        profile.replaceSubrange(12..<24, with: Data("mntrRGB XYZ ".utf8))
        profile.replaceSubrange(36..<40, with: Data("acsp".utf8))
        let picture = try await Picture.decoding(TestPicture(profile: profile).tiff).tiltShifted(Look())
        for format in [PictureFormat.jpeg, .webp] {
            let data = try picture.encoded(as: format, quality: 80, software: "x")
            #expect(data.range(of: profile) != nil, "\(format)")
        }
    }

    @Test func aPictureIsTurnedUpright() async throws {
        let turned = TestPicture(width: 4, height: 2, orientation: 6)
        let pixels = Data((0..<24).map { UInt8($0) })
        let picture = try await Picture.decoding(turned.tiff(of: pixels))
        #expect(picture.width == 2 && picture.height == 4)
        // After the rotation, the first row is the right column.
        let turnedPixels: [UInt8] = [4, 0, 5, 1, 6, 2, 7, 3].flatMap { pixel in (0..<3).map { pixel * 3 + $0 } }
        #expect(try Array(picture.samples()) == turnedPixels)
        let again = try await Picture.decoding(picture.encoded(as: .png, quality: 1, software: "x"))
        #expect(try again.samples() == picture.samples())
    }

    @Test(arguments: [TestPicture.Colours.grey, .rgb, .rgba, .cmyk], PictureFormat.allCases)
    func allColoursCanBeWorkedWith(colours: TestPicture.Colours, format: PictureFormat) async throws {
        let picture = try await Picture.decoding(TestPicture(colours: colours).tiff).tiltShifted(Look())
        let again = try await Picture.decoding(picture.encoded(as: format, quality: 90, software: "x"))
        #expect(again.width == 160 && again.height == 100)
    }

    @Test func whatIsTransparentHasNoColourForItsNeighbours() async throws {
        // The left half is red and opaque, the right half green and transparent.
        let row = (0..<160).flatMap { column -> [UInt8] in column < 80 ? [200, 0, 0, 255] : [0, 255, 0, 0] }
        let pixels = Data((0..<100).flatMap { _ in row })
        var look = Look()
        (look.focus, look.band, look.blur, look.saturation) = (0, 1, 5, 1)
        let picture = try await Picture.decoding(TestPicture(colours: .rgba).tiff(of: pixels)).tiltShifted(look)
        let samples = try picture.samples()
        let border = (80 * 160 + 79) * 4
        #expect(samples[border + 1] < 5, "green")
        #expect(samples[border] > 180, "red")
        #expect((100..<160).contains(samples[border + 3]), "alpha")
    }

    @Test func aCancelEndsTheWork() async throws {
        let data = TestPicture.noise(width: 2000, height: 1500)
        let task = Task {
            withUnsafeCurrentTask { $0?.cancel() }
            return try await Picture.decoding(data)
        }
        await #expect(throws: CancellationError.self) { try await task.value }
    }

    @Test func thumbnailsFitIntoASquareAndNeverGrow() async throws {
        let small = try await Picture.decoding(Picture.thumbnail(of: squares, side: 100))
        #expect(small.width == 100 && small.height == 67)
        let same = try await Picture.decoding(Picture.decoding(squares).thumbnail(side: 1000))
        #expect(same.width == 300 && same.height == 200)
    }
}

/// Measures how much neighbouring pixels differ, row by row.
private struct Grey {
    let width: Int
    let pixels: Data

    init(_ picture: Picture) throws {
        width = picture.width
        pixels = try picture.samples()
    }

    func contrast(_ row: Int) -> Int {
        let greens = (20..<width - 20).map { Int(pixels[(row * width + $0) * 3 + 1]) }
        return (greens.max() ?? 0) - (greens.min() ?? 0)
    }
}

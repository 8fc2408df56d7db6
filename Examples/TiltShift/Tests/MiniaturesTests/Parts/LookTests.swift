import Testing

@testable import Miniatures

/// Tests where a picture is blurred, and how strongly.
@Suite struct LookTests {
    @Test func theBandIsSharpAndTheBlurGrowsOverAsMuchAgain() {
        var look = Look()
        (look.focus, look.band) = (50, 20)
        #expect(look.blur(at: 50) == 0)
        #expect(look.blur(at: 40) == 0)
        #expect(look.blur(at: 60) == 0)
        #expect(look.blur(at: 70) == 0.5)
        #expect(look.blur(at: 30) == 0.5)
        #expect(look.blur(at: 80) == 1)
        #expect(look.blur(at: 0) == 1)
    }

    @Test func theFirstHalfOfTheBlurIsThatOfTheHalfBlurredPicture() {
        var look = Look()
        (look.focus, look.band) = (0, 50)
        // The middles of the rows are at 12.5, 37.5, 62.5 and 87.5 percent.
        let bands = look.bands(height: 4)
        #expect(bands.half == [0, 128, 255, 255])
        #expect(bands.full == [0, 0, 128, 255])
    }

    @Test func aBandOfNoHeightIsALine() {
        var look = Look()
        (look.focus, look.band) = (50, 0)
        #expect(look.blur(at: 50) == 0)
        #expect(look.blur(at: 51) == 1)
    }

    @Test func theBlurIsAPartOfTheHeight() {
        var look = Look()
        look.blur = 1
        #expect(look.sigma(height: 1000) == 10)
        #expect(look.sigma(height: 10) == 0)
    }
}

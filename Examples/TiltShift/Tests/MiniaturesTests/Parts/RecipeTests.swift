import Testing

@testable import Miniatures

@Suite struct RecipeTests {
    @Test(
        "A signature of any version of the program is recognized",
        arguments: ["tiltshift 1, picture a", "tiltshift 2, picture a", "tiltshift 10, picture a"])
    func signature(_ text: String) {
        #expect(Recipe.isSignature(text))
    }

    @Test(
        "A text of another program is not a signature",
        arguments: ["", "tiltshift", "tiltshift 1x, picture a", "tiltshift1, a", "tiltshift one", "GIMP 2.10, a"])
    func otherText(_ text: String) {
        #expect(!Recipe.isSignature(text))
    }
}

import Testing

@testable import BatonTrace

@Suite struct LiveOutputTests {
    private static let usual = ["TERM": "xterm-256color", "LANG": "en_US.UTF-8"]

    @Test func terminalIsRedrawnInColour() {
        let ability = LiveOutput.Ability(.automatic, isTerminal: true, Self.usual)
        #expect(ability.isRedrawn && ability.hasColour && ability.hasUnicode)
    }

    @Test func pipeGetsPlainLines() {
        let ability = LiveOutput.Ability(.automatic, isTerminal: false, Self.usual)
        #expect(!ability.isRedrawn && !ability.hasColour)
    }

    @Test(arguments: ["dumb", ""]) func terminalThatCannotRedrawGetsPlainLines(term: String) {
        let ability = LiveOutput.Ability(.automatic, isTerminal: true, Self.usual.merging(["TERM": term]) { $1 })
        #expect(!ability.isRedrawn && !ability.hasColour)
    }

    @Test func noColorIsHeededUnlessItIsEmpty() {
        let without = LiveOutput.Ability(.automatic, isTerminal: true, Self.usual.merging(["NO_COLOR": "1"]) { $1 })
        #expect(without.isRedrawn && !without.hasColour)
        #expect(LiveOutput.Ability(.automatic, isTerminal: true, Self.usual.merging(["NO_COLOR": ""]) { $1 }).hasColour)
    }

    @Test func styleThatIsAskedForIsGiven() {
        #expect(LiveOutput.Ability(.redrawn, isTerminal: false, [:]).isRedrawn)
        #expect(!LiveOutput.Ability(.lines, isTerminal: true, Self.usual).isRedrawn)
    }

    @Test func firstVariableOfTheLocaleCounts() {
        #expect(!LiveOutput.Ability(.automatic, isTerminal: true, ["LC_ALL": "C", "LANG": "en_US.UTF-8"]).hasUnicode)
        #expect(LiveOutput.Ability(.automatic, isTerminal: true, ["LC_ALL": "", "LC_CTYPE": "de_DE.utf8"]).hasUnicode)
        #expect(!LiveOutput.Ability(.automatic, isTerminal: true, [:]).hasUnicode)
    }
}

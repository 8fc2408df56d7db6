import Testing

@testable import BatonTrace

@Suite struct TerminalTextTests {
    @Test(arguments: [
        ("abc", 3), ("", 0), ("é", 1), ("e\u{301}", 1), ("日本", 4), ("한글", 4), ("ﾊﾝｶｸ", 4), ("ＡＢ", 4), ("👍", 2),
        ("❤️", 2),
        ("⚡", 2), ("…", 1), ("█", 1), ("א", 1), ("\u{200B}", 0),
    ])
    func columnsAreThoseOfATerminal(text: String, columns: Int) { #expect(TerminalText.columns(text) == columns) }

    @Test func joinedEmojiCountAsOnATerminalThatDoesNotJoin() {
        #expect(TerminalText.columns("👩‍👩‍👧") == 6)
        #expect(TerminalText.columns("🇩🇪") == 4)
    }

    @Test(arguments: [
        ("download", 8, "download"), ("download", 7, "downlo…"), ("download", 1, "…"), ("download", 0, ""),
        ("日本語", 5, "日本…"), ("日本語", 4, "日…"), ("日本語", 2, "…"), ("日本語", 6, "日本語"),
        ("e\u{301}e\u{301}e\u{301}", 2, "e\u{301}…"),
    ])
    func longTextIsCut(text: String, width: Int, cut: String) {
        #expect(TerminalText.clip(text, to: width, mark: "…") == cut)
    }

    @Test func nothingThatATerminalObeysIsLeft() {
        #expect(TerminalText.line("a\u{1B}[2Jb\nc\rd\te\u{9B}f\u{7}") == "a [2Jb c d e f ")
        #expect(TerminalText.line("a\u{202E}b\u{2066}c\u{2028}d") == "abc d")
        #expect(TerminalText.line("👩‍👩‍👧 </script>") == "👩‍👩‍👧 </script>")
    }

    @Test func textWithoutEndIsCut() {
        #expect(TerminalText.line(String(repeating: "日", count: 100_000)).count == 400)
        #expect(TerminalText.line("a" + String(repeating: "\u{301}", count: 100_000)).unicodeScalars.count == 400)
    }
}

import Testing

@testable import Baton

@Suite("Text from the user stays on one line")
struct SingleLineTests {
    @Test(
        "Line breaks and control characters become spaces",
        arguments: [
            ("a\nb", "a b"), ("a\r\nb", "a b"), ("a\n\rb", "a  b"),
            ("a\u{2028}b\u{2029}c\u{85}d\u{B}e\u{C}f", "a b c d e f"),
            ("\u{1B}[2J\u{7}", " [2J "), ("\u{9B}31m\u{0}\u{7F}", " 31m  "), ("\t", " "),
        ])
    func controlCharacters(text: String, line: String) { #expect(text.singleLine == line) }

    @Test(
        "Characters that turn the direction of the text are left out",
        arguments: [0x61C, 0x200E, 0x200F, 0x202A, 0x202B, 0x202C, 0x202D, 0x202E, 0x2066, 0x2067, 0x2068, 0x2069])
    func directions(scalar: UInt32) throws {
        let turn = try #require(Unicode.Scalar(scalar))
        #expect("a\(turn)b".singleLine == "ab")
    }

    @Test(
        "All other characters stay",
        arguments: ["", "plain", "‘é’ 日本 שלום", "👩‍👩‍👧 🏴󠁧󠁢󠁳󠁣󠁴󠁿", "e\u{301}\u{A0}\u{200B}"])
    func others(text: String) { #expect(text.singleLine == text) }

    @Test("The character ranges are those of Unicode")
    func ranges() {
        for value in UInt32(0)...0x10FFFF {
            guard let scalar = Unicode.Scalar(value) else { continue }
            let isControl =
                switch scalar.properties.generalCategory {
                case .control, .lineSeparator, .paragraphSeparator: true
                default: false
                }
            let expected = isControl ? " " : scalar.properties.isBidiControl ? "" : String(scalar)
            if String(scalar).singleLine != expected { Issue.record("U+\(String(value, radix: 16))") }
        }
    }
}

/// Writes JSON directly to bytes. Encoding a hundred thousand operations with `JSONEncoder` would take seconds.
struct JSONText {
    private(set) var bytes: [UInt8] = []
    /// True if a comma is needed before the next value.
    private var isAfterValue = false

    init() {}

    mutating func array(_ body: (inout Self) -> Void) { enclose("[", "]", body) }

    mutating func object(_ body: (inout Self) -> Void) { enclose("{", "}", body) }

    mutating func key(_ name: StaticString) {
        writeSeparator()
        append(string: "\(name)")
        bytes.append(UInt8(ascii: ":"))
        isAfterValue = false
    }

    mutating func value(_ text: String) {
        writeSeparator()
        append(string: text)
    }

    mutating func value(_ number: some BinaryInteger) {
        writeSeparator()
        bytes.append(contentsOf: "\(number)".utf8)
    }

    mutating func null() {
        writeSeparator()
        bytes.append(contentsOf: "null".utf8)
    }

    mutating func value(_ flag: Bool) {
        writeSeparator()
        bytes.append(contentsOf: (flag ? "true" : "false").utf8)
    }

    /// Writes nanoseconds as microseconds, which the Trace Event Format requires, with three decimals, or none if the
    /// value is whole.
    mutating func microseconds(_ nanoseconds: Int64) {
        writeSeparator()
        if nanoseconds < 0 { bytes.append(UInt8(ascii: "-")) }
        let size = nanoseconds.magnitude
        bytes.append(contentsOf: "\(size / 1000)".utf8)
        let rest = size % 1000
        if rest == 0 { return }
        bytes.append(UInt8(ascii: "."))
        for place: UInt64 in [100, 10, 1] { bytes.append(UInt8(ascii: "0") + UInt8(rest / place % 10)) }
    }

    mutating func newline() { bytes.append(UInt8(ascii: "\n")) }

    private mutating func enclose(_ open: Unicode.Scalar, _ close: Unicode.Scalar, _ body: (inout Self) -> Void) {
        writeSeparator()
        bytes.append(UInt8(ascii: open))
        isAfterValue = false
        body(&self)
        bytes.append(UInt8(ascii: close))
        isAfterValue = true
    }

    private mutating func writeSeparator() {
        if isAfterValue { bytes.append(UInt8(ascii: ",")) }
        isAfterValue = true
    }

    /// Writes a string that is also safe inside a script element: it contains no `<`, which could end the element, and
    /// no line separator.
    private mutating func append(string: String) {
        bytes.append(UInt8(ascii: "\""))
        for scalar in string.unicodeScalars {
            switch scalar {
            case "\"", "\\":
                bytes.append(UInt8(ascii: "\\"))
                bytes.append(UInt8(ascii: scalar))
            case "\u{0}"..<" ", "<", ">", "&", "\u{2028}", "\u{2029}", "\u{7f}":
                bytes.append(contentsOf: "\\u".utf8)
                let digits = String(scalar.value, radix: 16)
                bytes.append(contentsOf: String(repeating: "0", count: 4 - digits.count).utf8)
                bytes.append(contentsOf: digits.utf8)
            default: bytes.append(contentsOf: UTF8.encode(scalar) ?? UTF8.encodedReplacementCharacter)
            }
        }
        bytes.append(UInt8(ascii: "\""))
    }
}

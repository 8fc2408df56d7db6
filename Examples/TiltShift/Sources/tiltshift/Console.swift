internal import Foundation

/// How the program ends.
enum Status: Int32 {
    case success = 0
    case failure = 1
    case badUsage = 2
    case interrupted = 130
}

/// Where the program says things.
enum Console {
    /// Whether somebody looks at standard error.
    static var isTerminal: Bool { isatty(2) == 1 }

    /// Results, on standard output.
    static func print(_ text: String) { write(text, to: .standardOutput) }

    /// Everything else, on standard error.
    static func complain(_ text: String) { write("tiltshift: \(text)", to: .standardError) }

    /// Nobody may be there to read it.
    private static func write(_ text: String, to file: FileHandle) {
        try? file.write(contentsOf: Data("\(text)\n".utf8))
    }
}

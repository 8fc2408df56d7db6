/// The parameters that determine what a miniature looks like.
package struct Recipe: Sendable, Hashable {
    package var look = Look()
    package var format = PictureFormat.jpeg
    /// The quality of JPEG and WebP files, from 1 to 100.
    package var quality = 88

    package init() {}

    private static let program = "tiltshift"
    /// Changed when the program makes other miniatures from the same parameters.
    private static let version = 1

    /// Returns a text that is written into each miniature. A miniature with another signature, because of other
    /// parameters or another source, is made again. The format is not part of it, because it determines the extension
    /// of the file.
    func signature(of source: Source) -> String {
        let parts = [
            "\(Self.program) \(Self.version)", "picture \(source.fingerprint)", "focus \(look.focus)",
            "band \(look.band)",
            "blur \(look.blur)",
            "saturation \(look.saturation)", "quality \(quality)",
        ]
        return parts.joined(separator: ", ")
    }

    /// Returns true if a Software field was written by this program, in any version.
    static func isSignature(_ text: String) -> Bool {
        let words = text.prefix { $0 != "," }.split(separator: " ", omittingEmptySubsequences: false)
        return words.count == 2 && words[0] == program && UInt(words[1]) != nil
    }
}

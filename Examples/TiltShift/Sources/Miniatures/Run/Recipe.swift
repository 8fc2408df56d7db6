/// Everything that decides what a miniature looks like.
package struct Recipe: Sendable, Hashable {
    package var look = Look()
    package var format = PictureFormat.jpeg
    /// From 1 to 100, for JPEG and WebP.
    package var quality = 88

    package init() {}

    private static let program = "tiltshift 1"

    /// Is written into each miniature, so that one that was made otherwise, or of another picture, is made anew.
    func signature(of source: Source) -> String {
        let parts = [
            Self.program, "picture \(source.fingerprint)", "focus \(look.focus)", "band \(look.band)",
            "blur \(look.blur)",
            "saturation \(look.saturation)", "quality \(quality)",
        ]
        return parts.joined(separator: ", ")
    }

    /// Whether a picture says that it was made here.
    static func isSignature(_ text: String) -> Bool { text.hasPrefix(program) }
}

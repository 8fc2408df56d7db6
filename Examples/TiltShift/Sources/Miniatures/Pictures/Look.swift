/// The parameters that make a view look like a scale model: a sharp band, blur above and below it, and vivid colours.
///
/// A lens close to its object has a small depth of field. The effect imitates that for a scene seen from above.
package struct Look: Sendable, Hashable {
    /// The position of the middle of the sharp band, in percent of the picture's height from its top.
    package var focus = 55.0
    /// The height of the sharp band, in percent of the picture's height. The blur increases over the same height on
    /// either side.
    package var band = 16.0
    /// The greatest blur: the standard deviation of the Gaussian, in percent of the picture's height.
    package var blur = 0.8
    /// The factor of the colours' saturation: 1 leaves them unchanged, 0 makes them grey.
    package var saturation = 1.4

    package init() {}

    /// Returns the greatest blur in pixels. Less than a fifth of a pixel is invisible.
    func sigma(height: Int) -> Double {
        let sigma = blur / 100 * Double(height)
        return sigma < 0.2 ? 0 : sigma
    }

    /// Returns the blur, from 0 to 1, of a row that is `position` percent of the height below the top.
    func blur(at position: Double) -> Double {
        let distance = abs(position - focus) - band / 2
        return min(max(distance / max(band, 1), 0), 1)
    }

    /// Returns two masks with a value from 0 to 255 for each row: the share of a half-blurred picture that replaces the
    /// sharp one, and the share of a fully blurred picture that replaces that mixture. A mixture of only the sharp and
    /// the fully blurred picture would show double contours.
    func bands(height: Int) -> (half: [UInt8], full: [UInt8]) {
        let blurs = (0..<height).map { row in blur(at: (Double(row) + 0.5) / Double(height) * 100) }
        return (
            half: blurs.map { UInt8((min($0 * 2, 1) * 255).rounded()) },
            full: blurs.map { UInt8((max($0 * 2 - 1, 0) * 255).rounded()) }
        )
    }
}

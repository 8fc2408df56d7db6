/// What makes a view look like a model of itself: a sharp band, blur above and below it, and the colours of toys.
///
/// A lens that stands close to its object has little depth of field; this imitates it for a scene that is seen from
/// above.
package struct Look: Sendable, Hashable {
    /// Where the middle of the sharp band is, in percent of the picture's height from its top.
    package var focus = 55.0
    /// How high the sharp band is, in percent of the picture's height. The blur grows over as much again on either
    /// side.
    package var band = 16.0
    /// How strong the blur is at most: the standard deviation of the Gaussian, in percent of the picture's height.
    package var blur = 0.8
    /// 1 leaves the colours as they are, 0 makes them grey.
    package var saturation = 1.4

    package init() {}

    /// In pixels. Less than a fifth of one is nothing that could be seen.
    func sigma(height: Int) -> Double {
        let sigma = blur / 100 * Double(height)
        return sigma < 0.2 ? 0 : sigma
    }

    /// How blurred a row is, from 0 to 1, that is `position` percent of the height below the top.
    func blur(at position: Double) -> Double {
        let distance = abs(position - focus) - band / 2
        return min(max(distance / max(band, 1), 0), 1)
    }

    /// For each row, from 0 to 255, how much of a half blurred picture replaces the sharp one, and then of a fully
    /// blurred picture what that has made: a mixture of sharp and fully blurred alone would show everything twice.
    func bands(height: Int) -> (half: [UInt8], full: [UInt8]) {
        let blurs = (0..<height).map { row in blur(at: (Double(row) + 0.5) / Double(height) * 100) }
        return (
            half: blurs.map { UInt8((min($0 * 2, 1) * 255).rounded()) },
            full: blurs.map { UInt8((max($0 * 2 - 1, 0) * 255).rounded()) }
        )
    }
}

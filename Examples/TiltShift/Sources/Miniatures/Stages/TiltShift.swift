package import Baton
package import Foundation

/// Decodes a picture, and applies the tilt-shift effect.
package struct TiltShift: InputProcedure {
    package let look: Look

    package init(_ look: Look) { self.look = look }

    package func execute(_ data: Data, in context: OperationContext) async throws -> Picture {
        try await Picture.decoding(data).tiltShifted(look)
    }
}

package import Baton
package import Foundation

/// Decodes a picture, and makes it look like a model of what it shows.
package struct TiltShift: InputProcedure {
    package let look: Look

    package init(_ look: Look) { self.look = look }

    package func execute(_ data: Data, in context: OperationContext) async throws -> Picture {
        try await Picture.decoding(data).tiltShifted(look)
    }
}

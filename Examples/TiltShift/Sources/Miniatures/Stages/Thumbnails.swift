package import Baton
package import Foundation

/// Makes a thumbnail of a source picture for the report.
package struct ThumbnailBefore: InputProcedure {
    package init() {}

    package func execute(_ data: Data, in context: OperationContext) async throws -> Data {
        try Picture.thumbnail(of: data, side: Thumbnail.side)
    }
}

/// Makes a thumbnail of a finished miniature for the report.
package struct ThumbnailAfter: InputProcedure {
    package init() {}

    package func execute(_ picture: Picture, in context: OperationContext) async throws -> Data {
        try picture.thumbnail(side: Thumbnail.side)
    }
}

private enum Thumbnail {
    static let side = 720
}

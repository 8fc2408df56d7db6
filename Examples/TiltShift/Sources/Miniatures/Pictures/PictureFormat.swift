internal import CPicture

/// A file format of miniatures.
package enum PictureFormat: String, Sendable, Hashable, CaseIterable {
    case jpeg, png, webp

    /// The extension of files of this format.
    package var fileExtension: String { self == .jpeg ? "jpg" : rawValue }

    /// The extensions of files that can be read.
    static let readableExtensions: Set<String> = ["jpg", "jpeg", "png", "webp", "tif", "tiff"]

    var encoding: PictureEncoding {
        switch self {
        case .jpeg: PICTURE_JPEG
        case .png: PICTURE_PNG
        case .webp: PICTURE_WEBP
        }
    }
}

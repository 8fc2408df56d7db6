internal import CPicture

/// A file format that is written.
package enum PictureFormat: String, Sendable, Hashable, CaseIterable {
    case jpeg, png, webp

    /// What the names of files end with.
    package var fileExtension: String { self == .jpeg ? "jpg" : rawValue }

    /// What the names of files end with that can be read.
    static let readableExtensions: Set<String> = ["jpg", "jpeg", "png", "webp", "tif", "tiff"]

    var encoding: PictureEncoding {
        switch self {
        case .jpeg: PICTURE_JPEG
        case .png: PICTURE_PNG
        case .webp: PICTURE_WEBP
        }
    }
}

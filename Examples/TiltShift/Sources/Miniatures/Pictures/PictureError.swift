internal import CPicture

/// The reason why a picture cannot be made.
package enum PictureError: Error, Hashable, CustomStringConvertible {
    /// The file is empty.
    case empty
    /// The file is neither JPEG, PNG, WebP nor TIFF.
    case unknownFormat
    /// The file begins like a picture, but is damaged.
    case damaged
    /// The picture has too many pixels.
    case tooLarge(width: Int, height: Int)
    /// The colour space is not supported.
    case unusualColours
    /// Libvips could not be started.
    case noLibrary
    /// Any other failure, most likely a lack of memory.
    case failed

    /// A description of the error and, if possible, of a remedy.
    package var description: String {
        switch self {
        case .empty: "is empty"
        case .unknownFormat: "is not a picture: JPEG, PNG, WebP and TIFF can be read"
        case .damaged: "is damaged or cut short"
        case .tooLarge(let width, let height):
            "has \(width) × \(height) pixels: at most \(Picture.pixelLimit / 1_000_000) million can be worked with"
        case .unusualColours: "has colours that cannot be worked with. Convert it to RGB"
        case .noLibrary: "cannot be worked with: libvips did not start"
        case .failed: "could not be worked with: most likely there is too little memory. Try fewer --jobs"
        }
    }

    static func check(_ status: PictureStatus, size: () -> (width: Int, height: Int) = { (0, 0) }) throws {
        switch status {
        case PICTURE_OK: return
        case PICTURE_UNKNOWN_FORMAT: throw unknownFormat
        case PICTURE_DAMAGED: throw damaged
        case PICTURE_TOO_LARGE: throw tooLarge(width: size().width, height: size().height)
        case PICTURE_UNUSUAL: throw unusualColours
        default: throw failed
        }
    }
}

internal import CPicture

/// Why there is no picture.
package enum PictureError: Error, Hashable, CustomStringConvertible {
    /// A file of zero bytes.
    case empty
    /// Neither JPEG, PNG, WebP nor TIFF.
    case unknownFormat
    /// It begins like a picture, and does not go on like one.
    case damaged
    /// Its pixels would not fit.
    case tooLarge(width: Int, height: Int)
    /// Colours that nothing here can work with.
    case unusualColours
    /// Libvips could not be started.
    case noLibrary
    /// Most likely there was no memory left.
    case failed

    /// What is wrong, and what to do where something can be done.
    package var description: String {
        switch self {
        case .empty: "is empty"
        case .unknownFormat: "is no picture: JPEG, PNG, WebP and TIFF can be read"
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

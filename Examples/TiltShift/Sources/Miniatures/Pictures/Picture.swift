internal import CPicture
package import Foundation

/// An immutable picture in memory, or a plan to compute one.
///
/// Its methods block the calling thread until they are done. If the task is cancelled, they end early with an error.
///
/// `@unchecked`: libvips allows any number of threads to use a picture that does not change.
package final class Picture: @unchecked Sendable {
    /// The greatest number of pixels of a picture. Larger pictures are refused, because all pixels are in memory at
    /// once.
    package static let pixelLimit = 120_000_000

    /// True if libvips was started. The first access starts it.
    private static let isLibraryReady = picture_start(CommandLine.arguments.first ?? "tiltshift")

    private let handle: OpaquePointer

    private init(owning handle: OpaquePointer) { self.handle = handle }

    deinit { picture_release(handle) }

    /// The width in pixels.
    package var width: Int { Int(picture_width(handle)) }
    /// The height in pixels.
    package var height: Int { Int(picture_height(handle)) }
}

extension Picture {
    /// Decodes a JPEG, PNG, WebP or TIFF file, and rotates it upright.
    package static func decoding(_ data: Data) async throws -> Picture {
        try checkLibrary()
        if data.isEmpty { throw PictureError.empty }
        var (width, height) = (CInt(0), CInt(0))
        let plan = try data.withUnsafeBytes { bytes in
            try made {
                picture_plan(bytes.baseAddress, bytes.count, Double(pixelLimit), &$0, &width, &height)
            } orSize: {
                (Int(width), Int(height))
            }
        }
        return try await plan.rendered()
    }

    /// Returns the picture with the tilt-shift effect.
    package func tiltShifted(_ look: Look) async throws -> Picture {
        let bands = look.bands(height: height)
        let plan = try Self.made {
            picture_plan_tilt_shift(handle, bands.half, bands.full, look.sigma(height: height), look.saturation, &$0)
        }
        return try await plan.rendered()
    }

    private func rendered() async throws -> Picture {
        try Task.checkCancellation()
        return try await withTaskCancellationHandler {
            try Self.made { picture_render(handle, &$0) }
        } onCancel: {
            picture_stop(handle)
        }
    }

    private static func made(
        _ call: (inout OpaquePointer?) -> PictureStatus, orSize size: () -> (Int, Int) = { (0, 0) }
    ) throws -> Picture {
        var handle: OpaquePointer?
        try PictureError.check(call(&handle), size: size)
        guard let handle else { throw PictureError.failed }
        return Picture(owning: handle)
    }

    private static func checkLibrary() throws {
        if !isLibraryReady { throw PictureError.noLibrary }
    }
}

extension Picture {
    /// Returns the bytes of a file with this picture, its colour profile, and `software` as its Software field.
    func encoded(as format: PictureFormat, quality: Int, software: String) throws -> Data {
        try Self.bytes {
            picture_encode(handle, format.encoding, CInt(quality), software, &$0, &$1)
        }
    }

    /// Returns a small JPEG of the picture.
    func thumbnail(side: Int) throws -> Data {
        try Self.bytes { picture_thumbnail(handle, CInt(side), &$0, &$1) }
    }

    /// Returns a small JPEG of an encoded picture.
    static func thumbnail(of data: Data, side: Int) throws -> Data {
        try checkLibrary()
        return try data.withUnsafeBytes { source in
            try bytes { picture_thumbnail_of_bytes(source.baseAddress, source.count, CInt(side), &$0, &$1) }
        }
    }

    /// Returns the samples, row by row, with one or two bytes each as in the file.
    func samples() throws -> Data {
        try Self.bytes { picture_samples(handle, &$0, &$1) }
    }

    /// Returns the Software field of a file, or nil if it has none or is not a picture.
    static func software(ofFile path: String) throws -> String? {
        try checkLibrary()
        guard let text = picture_software(path) else { return nil }
        defer { picture_free(text) }
        return String(cString: text)
    }

    private static func bytes(
        _ call: (inout UnsafeMutableRawPointer?, inout Int) -> PictureStatus
    ) throws -> Data {
        var (bytes, count) = (UnsafeMutableRawPointer?.none, 0)
        try PictureError.check(call(&bytes, &count))
        guard let bytes else { throw PictureError.failed }
        return Data(bytesNoCopy: bytes, count: count, deallocator: .custom { bytes, _ in picture_free(bytes) })
    }
}

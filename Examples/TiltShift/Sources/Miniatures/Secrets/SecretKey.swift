package import Foundation
internal import LibSodium

/// The key that encrypts and decrypts pictures: 32 random bytes, stored in a file as 64 hexadecimal digits.
package struct SecretKey: Sendable, Hashable {
    let bytes: [UInt8]

    /// True if libsodium was started. The first access starts it.
    static let isLibraryReady = sodium_init() >= 0

    /// Makes a new key.
    package static func random() throws -> SecretKey {
        guard isLibraryReady else { throw SecretError.noLibrary }
        var bytes = [UInt8](repeating: 0, count: crypto_secretstream_xchacha20poly1305_keybytes())
        crypto_secretstream_xchacha20poly1305_keygen(&bytes)
        return SecretKey(bytes: bytes)
    }

    /// A fingerprint that encrypted files contain, so that a wrong key is not mistaken for damage. It does not disclose
    /// the key.
    var fingerprint: [UInt8] {
        var hash = [UInt8](repeating: 0, count: SecretFile.fingerprintCount)
        crypto_generichash(&hash, hash.count, bytes, UInt64(bytes.count), nil, 0)
        return hash
    }
}

extension SecretKey {
    /// Reads a key file.
    package init(file: URL) throws {
        let data: Data
        do {
            data = try PictureFile.read(file)
        } catch {
            throw SecretError.keyNotRead(file: file.relativePath, why: "\(error)")
        }
        guard let key = SecretKey(hexadecimal: String(decoding: data, as: UTF8.self)) else {
            throw SecretError.noKey(file: file.relativePath)
        }
        self = key
    }

    /// Reads a key of 64 digits. Surrounding whitespace is ignored.
    package init?(hexadecimal text: String) {
        let digits = Array(text.trimmingCharacters(in: .whitespacesAndNewlines).utf8)
        var bytes: [UInt8] = []
        for index in stride(from: 0, to: digits.count - 1, by: 2) {
            guard let high = Character(UnicodeScalar(digits[index])).hexDigitValue,
                let low = Character(UnicodeScalar(digits[index + 1])).hexDigitValue
            else { return nil }
            bytes.append(UInt8(high * 16 + low))
        }
        guard digits.count == 64, bytes.count == 32 else { return nil }
        self.init(bytes: bytes)
    }

    /// The key as 64 digits.
    package var hexadecimal: String { bytes.hexadecimal }

    /// Writes a key file that only its owner can read. Throws if the file exists.
    package func write(to file: URL) throws {
        try Data().write(to: file, options: .withoutOverwriting)
        try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: file.path)
        try Data("\(hexadecimal)\n".utf8).write(to: file)
    }
}

package import Foundation
internal import LibSodium

/// An encrypted file: a mark, the fingerprint of the key, and a `secretstream` of libsodium (XChaCha20-Poly1305), whose
/// last chunk is marked as the last.
///
/// Each chunk is authenticated together with the mark and the fingerprint, so that a file that was changed, truncated
/// or rearranged is detected, and none of it is returned.
package enum SecretFile {
    static let fingerprintCount = 16
    private static let mark = Array("tiltshift secret 1\n".utf8)
    private static let chunkCount = 65_536

    /// The extension of encrypted files.
    package static let fileExtension = "enc"

    /// Encrypts data.
    package static func sealed(_ clear: Data, with key: SecretKey) throws -> Data {
        guard SecretKey.isLibraryReady else { throw SecretError.noLibrary }
        let front = mark + key.fingerprint
        var state = crypto_secretstream_xchacha20poly1305_state()
        var header = [UInt8](repeating: 0, count: crypto_secretstream_xchacha20poly1305_headerbytes())
        crypto_secretstream_xchacha20poly1305_init_push(&state, &header, key.bytes)
        var sealed = Data(front + header)
        var rest = clear[...]
        repeat {
            let chunk = Array(rest.prefix(chunkCount))
            rest = rest.dropFirst(chunkCount)
            let tag = rest.isEmpty ? crypto_secretstream_xchacha20poly1305_tag_final() : 0
            var cipher = [UInt8](repeating: 0, count: chunk.count + crypto_secretstream_xchacha20poly1305_abytes())
            crypto_secretstream_xchacha20poly1305_push(
                &state, &cipher, nil, chunk, UInt64(chunk.count), front, UInt64(front.count), tag)
            sealed.append(contentsOf: cipher)
        } while !rest.isEmpty
        return sealed
    }

    /// Decrypts the result of ``sealed(_:with:)``.
    package static func opened(_ sealed: Data, with key: SecretKey) throws -> Data {
        guard SecretKey.isLibraryReady else { throw SecretError.noLibrary }
        guard sealed.starts(with: mark) else { throw SecretError.notEncrypted }
        let frontCount = mark.count + fingerprintCount
        let headerCount = crypto_secretstream_xchacha20poly1305_headerbytes()
        guard sealed.count >= frontCount + headerCount else { throw SecretError.tampered }
        let front = Array(sealed.prefix(frontCount))
        guard front.suffix(fingerprintCount).elementsEqual(key.fingerprint) else { throw SecretError.wrongKey }

        var state = crypto_secretstream_xchacha20poly1305_state()
        let header = Array(sealed.dropFirst(frontCount).prefix(headerCount))
        guard crypto_secretstream_xchacha20poly1305_init_pull(&state, header, key.bytes) == 0 else {
            throw SecretError.tampered
        }
        let overhead = crypto_secretstream_xchacha20poly1305_abytes()
        var clear = Data(capacity: sealed.count)
        var rest = sealed.dropFirst(frontCount + headerCount)
        var tag: UInt8 = 0
        while tag != crypto_secretstream_xchacha20poly1305_tag_final() {
            let cipher = Array(rest.prefix(chunkCount + overhead))
            rest = rest.dropFirst(chunkCount + overhead)
            guard cipher.count >= overhead else { throw SecretError.tampered }
            var chunk = [UInt8](repeating: 0, count: cipher.count - overhead)
            guard
                crypto_secretstream_xchacha20poly1305_pull(
                    &state, &chunk, nil, &tag, cipher, UInt64(cipher.count), front, UInt64(front.count)) == 0
            else { throw SecretError.tampered }
            clear.append(contentsOf: chunk)
        }
        guard rest.isEmpty else { throw SecretError.tampered }
        return clear
    }
}

extension SecretFile {
    /// Encrypts a file into another one, which is written atomically.
    package static func seal(_ file: URL, to output: URL, with key: SecretKey) throws {
        try PictureFile.write(sealed(PictureFile.read(file), with: key), to: output)
    }
}

/// Why something could not be decrypted.
package enum SecretError: Error, Hashable, CustomStringConvertible {
    /// Nobody gave a key.
    case keyMissing
    /// The file of the key cannot be read.
    case keyNotRead(file: String, why: String)
    /// The file holds no key.
    case noKey(file: String)
    /// It was not made by `tiltshift encrypt`.
    case notEncrypted
    /// It was encrypted with another key.
    case wrongKey
    /// Somebody has changed it, or a part of it is missing.
    case tampered
    /// Sodium could not be started.
    case noLibrary

    /// What is wrong, and what to do where something can be done.
    package var description: String {
        switch self {
        case .keyMissing: "is encrypted: say where its key is with --key"
        case .keyNotRead(let file, let why): "needs a key, and \(file) \(why)"
        case .noKey(let file):
            "needs a key, and \(file) holds none: it should have 64 hexadecimal digits. ‘tiltshift encrypt’ makes one"
        case .notEncrypted: "is called .enc, and was not encrypted by ‘tiltshift encrypt’"
        case .wrongKey: "was encrypted with another key"
        case .tampered: "was changed or cut short after it had been encrypted"
        case .noLibrary: "cannot be decrypted: libsodium did not start"
        }
    }
}

/// The reason why a file could not be decrypted.
package enum SecretError: Error, Hashable, CustomStringConvertible {
    /// No key was given.
    case keyMissing
    /// The key file cannot be read.
    case keyNotRead(file: String, why: String)
    /// The key file contains no key.
    case noKey(file: String)
    /// The file was not made by `tiltshift encrypt`.
    case notEncrypted
    /// The file was encrypted with another key.
    case wrongKey
    /// The file was changed or truncated.
    case tampered
    /// Sodium could not be started.
    case noLibrary

    /// A description of the error and, if possible, of a remedy.
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

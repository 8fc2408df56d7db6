package import Baton

/// What is done to a picture, one after another.
///
/// The name of an operation is that of its stage and that of its picture, so that the live view and the report can put
/// together what belongs together.
package enum Stage: String, Sendable, CaseIterable {
    case asking = "ask"
    case reading = "read"
    case downloading = "download"
    case decrypting = "decrypt"
    case shifting = "tilt shift"
    case saving = "save"
    case picturing = "thumbnail"
    case finishing = "finish"

    private static let divider = " · "

    func name(_ source: Source) -> String { "\(rawValue)\(Self.divider)\(source.name)" }

    /// The operation that loads the key for all.
    static let key = "key"

    /// The stage of an operation; operations of none are the pictures as a whole.
    package static func name(of operation: OperationReference) -> String {
        let name = operation.name
        if name == key { return key }
        return allCases.first { name.hasPrefix($0.rawValue + divider) }?.rawValue ?? "picture"
    }
}

package import Baton

/// The stages of a picture, in order.
///
/// The name of an operation consists of its stage and its picture, so that the live view and the report can group
/// operations.
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

    /// The name of the operation that loads the key for all pictures.
    static let key = "key"

    /// Returns the stage of an operation. Operations without a stage represent whole pictures.
    package static func name(of operation: OperationReference) -> String {
        let name = operation.name
        if name == key { return key }
        return allCases.first { name.hasPrefix($0.rawValue + divider) }?.rawValue ?? "picture"
    }
}

/// What a body finds of the operations that its own depended on: all finished, inputs first, then in the order added.
///
/// A procedure that does not know who makes its input can look for it by type, or by a protocol that anybody's output
/// can conform to, whatever its operation:
///
/// ```swift
/// let image = context.dependencies.outputs(of: (any ImageProvider).self).lazy.compactMap(\.image).first
/// ```
public struct OperationDependencies: Sendable {
    /// The operations. Empty after the body's operation has finished, and in a direct call.
    public let operations: [AnyOperation]
    private let found: [any Sendable]

    init(of operation: AnyOperation) {
        operations = operation.dependencies
        found = operations.compactMap { $0.hasFailed ? nil : $0.outcome }
    }

    init(found: [any Sendable]) {
        operations = []
        self.found = found
    }

    /// Their outputs of this type or protocol, in order. Those that have none, or one of another type, are passed over.
    public func outputs<Output>(of type: Output.Type) -> [Output] { found.compactMap { $0 as? Output } }
}

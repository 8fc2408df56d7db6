/// Something that happened to an operation. Passed to the queue's `tap`, outside every lock, on the thread on which it happened.
package struct EngineEvent: Sendable {
    package enum Kind: Sendable, Hashable {
        case added
        case started
        case finished(OperationOutcome)
    }

    package let kind: Kind
    package let operation: OperationReference
}

import Baton
import Synchronization

/// The records of the handlers of one node, and of the hooks around its body.
final class HandlerRecord: Sendable {
    let lastStepsAdded = Atomic<Int>(0)
    let lastStepsCalled = Atomic<Int>(0)
    /// The number of `willFinish` handlers that are running and delay the outcome.
    let holdingBack = Atomic<Int>(0)
    /// The outcome that the `willFinish` handlers received.
    let decided = Locked<Outcome?>(nil)

    let tellersAdded = Atomic<Int>(0)
    let startsTold = Atomic<Int>(0)
    let cancelsTold = Atomic<Int>(0)
    let isTelling = Atomic<Bool>(false)
    /// The moment of the last call of a handler that was added before the operation.
    let lastMoment = Atomic<Int>(0)

    let produced = Atomic<Int>(0)
    let productsTold = Atomic<Int>(0)
    let hooked = Atomic<Int>(0)
}

enum Moment: Int {
    case start = 1
    case cancel
    case finish
}

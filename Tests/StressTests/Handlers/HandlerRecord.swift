import Baton
import Synchronization

/// What is noted about the handlers of one node, and the hooks around its body.
final class HandlerRecord: Sendable {
    let lastStepsAdded = Atomic<Int>(0)
    let lastStepsCalled = Atomic<Int>(0)
    /// `willFinish` handlers that hold the outcome back at this moment.
    let holdingBack = Atomic<Int>(0)
    /// What they were given.
    let decided = Locked<Outcome?>(nil)

    let tellersAdded = Atomic<Int>(0)
    let startsTold = Atomic<Int>(0)
    let cancelsTold = Atomic<Int>(0)
    let isTelling = Atomic<Bool>(false)
    /// The moment of the last of those handlers that were there from the beginning.
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

internal import Baton

/// What connects the output of one program with the input of another. Each end is taken once, by the program whose it is, or
/// given up, when that will not need it any more; so that the other program is never left waiting.
final class ProgramPipe: Sendable {
    private struct End {
        enum Use {
            case none
            case taken
            case givenUp
        }

        var use = Use.none
        /// There, if the pipe is open, until it is taken or given up.
        var descriptor: Descriptor?
    }

    private struct State {
        var reading = End()
        var writing = End()
        private var isOpen = false
        /// Of programs that wait for the other one.
        private var wakeups: [Wakeup] = []

        var isConnected: Bool { reading.use != .none && writing.use != .none }

        mutating func open(_ ends: PipeEnds) {
            if isOpen { return }
            isOpen = true
            if reading.use == .none { reading.descriptor = ends.reading }
            if writing.use == .none { writing.descriptor = ends.writing }
        }

        /// False: both are there already.
        mutating func await(_ wakeup: Wakeup) -> Bool {
            if !isConnected { wakeups.append(wakeup) }
            return !isConnected
        }

        mutating func takeWakeups() -> [Wakeup] {
            if !isConnected { return [] }
            defer { wakeups = [] }
            return wakeups
        }
    }

    private let state = LockedState(State())

    /// Nil: it was taken before, or given up.
    func takeReading() throws(SystemFailure) -> Descriptor? { try take(\.reading) }

    /// Nil: it was taken before, or given up.
    func takeWriting() throws(SystemFailure) -> Descriptor? { try take(\.writing) }

    /// The program that would read has ended. Whoever writes gets a broken pipe.
    func giveUpReading() { giveUp(\.reading) }

    /// The program that would write has ended. Whoever reads sees the end.
    func giveUpWriting() { giveUp(\.writing) }

    /// A wait that ends when both programs have taken their ends, or will not. Nil: that is so.
    func connection() -> Wakeup? {
        let wakeup = Wakeup()
        return state.withLock { $0.await(wakeup) } ? wakeup : nil
    }

    /// Whether each end has been taken or given up.
    var isConnected: Bool { state.withLock { $0.isConnected } }

    private func take(_ end: WritableKeyPath<State, End>) throws(SystemFailure) -> Descriptor? {
        // Made outside the lock; closed again if there was one.
        let ends = try PipeEnds()
        let (found, wakeups): (Descriptor?, [Wakeup]) = state.withLock { state in
            if state[keyPath: end].use != .none { return (nil, []) }
            state.open(ends)
            state[keyPath: end].use = .taken
            return (state[keyPath: end].descriptor.take(), state.takeWakeups())
        }
        for wakeup in wakeups { wakeup.end(true) }
        return found
    }

    private func giveUp(_ end: WritableKeyPath<State, End>) {
        let (former, wakeups): (Descriptor?, [Wakeup]) = state.withLock { state in
            if state[keyPath: end].use != .none { return (nil, []) }
            state[keyPath: end].use = .givenUp
            return (state[keyPath: end].descriptor.take(), state.takeWakeups())
        }
        former?.close()
        for wakeup in wakeups { wakeup.end(true) }
    }
}

internal import Baton

/// What connects the output of one program with the input of another. Each end is taken once, by the start of the
/// program whose it is, and used from then on that this runs; or given up, when that will not need it any more. So the
/// other program is never left waiting.
final class ProgramPipe: Sendable {
    private struct End {
        enum Use {
            case none
            /// The start of the program is being tried, or waits to be tried again.
            case taken
            case running
            case givenUp
        }

        var use = Use.none
        var isSettled: Bool { use == .running || use == .givenUp }
        /// There, if the pipe is open, until it is taken or given up.
        var descriptor: Descriptor?
    }

    private struct State {
        var reading = End()
        var writing = End()
        private var isOpen = false
        /// Of programs that wait for the other one.
        private var wakeups: [Wakeup] = []

        var isConnected: Bool { reading.isSettled && writing.isSettled }

        mutating func open(_ ends: PipeEnds) {
            if isOpen { return }
            isOpen = true
            if reading.use == .none { reading.descriptor = ends.reading }
            if writing.use == .none { writing.descriptor = ends.writing }
        }

        /// False: it is connected already.
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

    private let state = Locked(State())

    /// Nil: it was taken before, or given up.
    func takeReading() throws(SystemFailure) -> Descriptor? { try take(\.reading) }

    /// Nil: it was taken before, or given up.
    func takeWriting() throws(SystemFailure) -> Descriptor? { try take(\.writing) }

    /// The program that reads runs.
    func didStartReading() { didStart(\.reading) }

    /// The program that writes runs.
    func didStartWriting() { didStart(\.writing) }

    /// The program that would read has ended. Whoever writes gets a broken pipe.
    func giveUpReading() { giveUp(\.reading) }

    /// The program that would write has ended. Whoever reads sees the end.
    func giveUpWriting() { giveUp(\.writing) }

    /// A wait that ends when both programs run, or never will. Nil: that is so.
    func connection() -> Wakeup? {
        let wakeup = Wakeup()
        return state.withLock { $0.await(wakeup) } ? wakeup : nil
    }

    /// Whether each of both programs runs, or has ended, or never will run.
    var isConnected: Bool { state.withLock { $0.isConnected } }

    private func take(_ end: WritableKeyPath<State, End>) throws(SystemFailure) -> Descriptor? {
        // Made outside the lock; closed again if there was one.
        let ends = try PipeEnds()
        return state.withLock { state in
            if state[keyPath: end].use != .none { return nil }
            state.open(ends)
            state[keyPath: end].use = .taken
            return state[keyPath: end].descriptor.take()
        }
    }

    private func didStart(_ end: WritableKeyPath<State, End>) {
        let wakeups = state.withLock { state -> [Wakeup] in
            if state[keyPath: end].use == .taken { state[keyPath: end].use = .running }
            return state.takeWakeups()
        }
        for wakeup in wakeups { wakeup.end(true) }
    }

    private func giveUp(_ end: WritableKeyPath<State, End>) {
        let (former, wakeups): (Descriptor?, [Wakeup]) = state.withLock { state in
            if state[keyPath: end].isSettled { return (nil, []) }
            state[keyPath: end].use = .givenUp
            return (state[keyPath: end].descriptor.take(), state.takeWakeups())
        }
        former?.close()
        for wakeup in wakeups { wakeup.end(true) }
    }
}

internal import Baton

/// A pipe between the output of one program and the input of another.
///
/// The start of a program takes the program's end of the pipe. The end is then in use once the program runs, or is
/// given up when the program will no longer need it. So a program never waits for a peer that will not come.
final class ProgramPipe: Sendable {
    private struct End {
        enum Use {
            case none
            /// A start of the program is being tried, or waits to be tried again.
            case taken
            case running
            case givenUp
        }

        var use = Use.none
        var isSettled: Bool { use == .running || use == .givenUp }
        /// The open descriptor. It is nil before the pipe is made, and after the end was taken or given up.
        var descriptor: Descriptor?
    }

    private struct State {
        var reading = End()
        var writing = End()
        private var isOpen = false
        /// The waits of programs for the program at the other end.
        private var wakeups: [Wakeup] = []

        var isConnected: Bool { reading.isSettled && writing.isSettled }

        mutating func open(_ ends: PipeEnds) {
            if isOpen { return }
            isOpen = true
            if reading.use == .none { reading.descriptor = ends.reading }
            if writing.use == .none { writing.descriptor = ends.writing }
        }

        /// Registers a wait for the connection. Returns false if the pipe is connected already.
        mutating func addWaiter(_ wakeup: Wakeup) -> Bool {
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

    /// Takes the reading end. Returns nil if it was taken before, or given up.
    func takeReading() throws(SystemFailure) -> Descriptor? { try take(\.reading) }

    /// Takes the writing end. Returns nil if it was taken before, or given up.
    func takeWriting() throws(SystemFailure) -> Descriptor? { try take(\.writing) }

    /// Notes that the reading program runs.
    func didStartReading() { didStart(\.reading) }

    /// Notes that the writing program runs.
    func didStartWriting() { didStart(\.writing) }

    /// Notes that the reading program has ended or will never run. The writing program then gets a broken pipe.
    func giveUpReading() { giveUp(\.reading) }

    /// Notes that the writing program has ended or will never run. The reading program then sees the end of its input.
    func giveUpWriting() { giveUp(\.writing) }

    /// Returns a wait that ends when each of the two programs runs or has been given up, or nil if that is so already.
    func connection() -> Wakeup? {
        let wakeup = Wakeup()
        return state.withLock { $0.addWaiter(wakeup) } ? wakeup : nil
    }

    /// True if each of the two programs runs, has ended, or will never run.
    var isConnected: Bool { state.withLock { $0.isConnected } }

    private func take(_ end: WritableKeyPath<State, End>) throws(SystemFailure) -> Descriptor? {
        // The pipe is made outside the lock. If there was one already, the new descriptors are closed with the last
        // reference.
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
            assert(state[keyPath: end].use != .none, "Internal inconsistency: a program without its end of the pipe")
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

// MARK: - Claimed ends

/// The ends of its pipeline's pipes that a program has taken. Each end can be taken once, so the ends are kept while
/// the start of the program is tried again.
struct ClaimedPipeEnds {
    private(set) var input: Descriptor?
    private(set) var output: Descriptor?

    init() {}

    /// Takes the ends that have not been taken yet.
    mutating func take(for program: Subprocess) throws(SubprocessError) {
        if case .pipe(let pipe) = program.input.source, input == nil {
            input = try Self.taking(for: program) { () throws(SystemFailure) in try pipe.takeReading() }
        }
        if case .pipe(let pipe) = program.output.target, output == nil {
            output = try Self.taking(for: program) { () throws(SystemFailure) in try pipe.takeWriting() }
        }
    }

    /// Tells the pipes that the program runs.
    func didStart(_ program: Subprocess) {
        if input != nil, case .pipe(let pipe) = program.input.source { pipe.didStartReading() }
        if output != nil, case .pipe(let pipe) = program.output.target { pipe.didStartWriting() }
    }

    /// Gives up the ends of a program that will never run. The programs at the other ends learn of it now, and not when
    /// this program's operation ends.
    mutating func giveUp(for program: Subprocess) {
        if let input = input.take(), case .pipe(let pipe) = program.input.source {
            input.close()
            pipe.giveUpReading()
        }
        if let output = output.take(), case .pipe(let pipe) = program.output.target {
            output.close()
            pipe.giveUpWriting()
        }
    }

    /// Takes an end. Throws `pipeUsed` if the end was taken before.
    private static func taking(
        for program: Subprocess, _ take: () throws(SystemFailure) -> Descriptor?
    ) throws(SubprocessError) -> Descriptor {
        let end: Descriptor?
        do { end = try take() } catch { throw .notStarted(program: program.program, reason: error) }
        guard let end else { throw .pipeUsed(program: program.program) }
        return end
    }
}

// MARK: - Waiting without a permit

extension Subprocess {
    /// The queue of the operations that bodies wait for.
    private static let waiting = AsyncOperationQueue.serving(name: "programs that wait for others")

    /// Waits, without a permit of the queue, until every program of the pipeline has been started or given up.
    ///
    /// If the body kept its permit, a queue narrower than the pipeline would have none left for the other programs. The
    /// body waits for all pipes and not only for those next to it, because its input may depend on a program further
    /// away. Call it on the body's own task.
    static func releasePermit(until pipes: [ProgramPipe], in waits: WaitScope) async {
        let wakeups = pipes.compactMap { $0.connection() }
        if wakeups.isEmpty { return }
        let connected = AsyncOperation<Void>("connection") {
            for wakeup in wakeups {
                // The program may end before the pipe is connected.
                if waits.add(wakeup) { _ = await wakeup.wait() }
                waits.remove(wakeup)
            }
        }
        waiting.add(connected)
        _ = try? await connected.value
    }
}

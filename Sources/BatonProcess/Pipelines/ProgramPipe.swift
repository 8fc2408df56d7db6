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
        /// The operation of the program.
        weak var operation: AnyOperation?
        /// The waits of other programs for this one, each with its place there.
        private var waits: [(wait: PeerWait, place: Int)] = []
        var isSettled: Bool { use == .running || use == .givenUp }
        /// The open descriptor. It is nil before the pipe is made, and after the end was taken or given up.
        var descriptor: Descriptor?

        /// Registers a wait until the end is settled. Returns false if it is settled already.
        mutating func add(_ wait: PeerWait, at place: Int) -> Bool {
            if !isSettled { waits.append((wait, place)) }
            return !isSettled
        }

        mutating func takeWaits() -> [(wait: PeerWait, place: Int)] {
            defer { waits = [] }
            return waits
        }
    }

    private struct State {
        var reading = End()
        var writing = End()
        private var isOpen = false

        var isConnected: Bool { reading.isSettled && writing.isSettled }

        mutating func open(_ ends: PipeEnds) {
            if isOpen { return }
            isOpen = true
            if reading.use == .none { reading.descriptor = ends.reading }
            if writing.use == .none { writing.descriptor = ends.writing }
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

    /// Names the operations of the two programs, for explanations and for the searches for cycles. The pipe does not
    /// retain them.
    func connect(_ writer: AnyOperation, to reader: AnyOperation) {
        state.withLock { state in
            state.writing.operation = writer
            state.reading.operation = reader
        }
    }

    /// The operations of the programs, in the order in which data flows. They are nil if they have been released.
    var operations: [AnyOperation?] { state.withLock { [$0.writing.operation, $0.reading.operation] } }

    /// Ends two waits when the program of the corresponding end runs or has been given up.
    ///
    /// - Parameters:
    ///   - wait: The wait that is told.
    ///   - place: The place of the writing program in it. The reading program has the next one.
    func add(_ wait: PeerWait, at place: Int) {
        let (awaitsWriter, awaitsReader) = state.withLock { state in
            (state.writing.add(wait, at: place), state.reading.add(wait, at: place + 1))
        }
        if !awaitsWriter { wait.end(place) }
        if !awaitsReader { wait.end(place + 1) }
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
        let waits = state.withLock { state in
            assert(state[keyPath: end].use != .none, "Internal inconsistency: a program without its end of the pipe")
            if state[keyPath: end].use == .taken { state[keyPath: end].use = .running }
            return state[keyPath: end].takeWaits()
        }
        for (wait, place) in waits { wait.end(place) }
    }

    private func giveUp(_ end: WritableKeyPath<State, End>) {
        let (former, waits): (Descriptor?, [(wait: PeerWait, place: Int)]) = state.withLock { state in
            if state[keyPath: end].isSettled { return (nil, []) }
            state[keyPath: end].use = .givenUp
            return (state[keyPath: end].descriptor.take(), state[keyPath: end].takeWaits())
        }
        former?.close()
        for (wait, place) in waits { wait.end(place) }
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
    /// Waits, without a permit of the queue, until every program of the pipeline has been started or given up.
    ///
    /// If the body kept its permit, a queue narrower than the pipeline would have none left for the other programs. The
    /// body waits for all pipes and not only for those next to it, because its input may depend on a program further
    /// away. Call it on the body's own task.
    ///
    /// - Throws: `dependencyCycle` if another program, which has begun, waits for this one to end.
    static func releasePermit(until pipes: [ProgramPipe], in waits: WaitScope) async throws(OperationError) {
        if pipes.allSatisfy(\.isConnected) { return }
        let wait = connection(of: pipes)
        // The program may end before the pipes are connected.
        if waits.add(wait) { try await wait.wait() }
        waits.remove(wait)
    }

    /// A function of its own, because the body must not retain the operations of the other programs while it waits.
    private static func connection(of pipes: [ProgramPipe]) -> PeerWait {
        let wait = PeerWait(for: pipes.flatMap(\.operations))
        for (number, pipe) in pipes.enumerated() { pipe.add(wait, at: 2 * number) }
        return wait
    }
}

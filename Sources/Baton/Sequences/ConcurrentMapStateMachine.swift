/// The elements of one iteration on their way: taken from upstream, in flight in an operation each, finished,
/// delivered. Pure; see ``ConcurrentMap``.
///
/// What is in flight or finished and not yet delivered fills the conveyor, and only while it is not full is upstream
/// asked for more. An output has a *number*, by which it is delivered: in the order of the elements its element's
/// place, else its place among those that arrived.
struct ConcurrentMapStateMachine<Flight, Output, Failure: Error> {
    typealias Outcome = Result<Output, OperationError>
    /// Counts the elements in the order of upstream.
    typealias Place = Int

    private enum Phase {
        /// Nobody has asked for an output.
        case idle
        case taking
        /// No more is taken; what is in flight is still delivered.
        case draining
        /// The consumer has gone: what is in flight is waited for, and nothing is delivered.
        case closing
        case over
    }

    private let width: Int
    private let order: OutputOrder
    /// The first failure is the last thing delivered.
    private let endsAtFailure: Bool
    private var phase = Phase.idle
    private var inFlight: [Place: Flight] = [:]
    /// By number.
    private var finished: [Int: Outcome] = [:]
    private var takenCount = 0
    private var arrivedCount = 0
    private var deliveredCount = 0
    /// Of the failure after which nothing is delivered.
    private var lastNumber: Int?
    private var upstreamIsOpen = false
    private var upstreamFailure: Failure?
    /// The queue takes nothing more, so there is no next output.
    private var isRefused = false

    init(width: Int, order: OutputOrder, endsAtFailure: Bool) {
        self.width = width
        self.order = order
        self.endsAtFailure = endsAtFailure
    }

    /// To be acted on after unlocking; what is only there to be released, too.
    struct Actions {
        var wakesConsumer = false
        /// Upstream is not asked any more, and its task is cancelled.
        var stopsUpstream = false
        /// In the order of their places.
        var cancel: [Flight] = []
        var landed: Flight?
        var unwanted: [Outcome] = []
        var unwantedFailure: Failure?
    }

    /// The operations that are waited for, in order.
    var flights: [Flight] { inFlight.sorted { $0.key < $1.key }.map(\.value) }

    /// Nothing goes on any more.
    private var isQuiet: Bool { inFlight.isEmpty && !upstreamIsOpen }
}

// MARK: - Upstream

extension ConcurrentMapStateMachine {
    enum Room {
        case free
        /// Until an output is delivered, or nothing more is wanted.
        case full
        case closed
    }

    var room: Room {
        switch phase {
        case .taking: inFlight.count + finished.count < width ? .free : .full
        case .idle, .draining, .closing, .over: .closed
        }
    }

    /// Nil: while upstream made this element it was decided that no more is wanted.
    mutating func take(_ flight: Flight) -> Place? {
        guard phase == .taking else { return nil }
        defer { takenCount += 1 }
        inFlight[takenCount] = flight
        return takenCount
    }

    /// The queue takes nothing more. Upstream may be silent, so its iteration is cancelled; what is in flight is still
    /// delivered.
    mutating func queueClosed() -> Actions {
        var actions = Actions()
        guard phase == .taking else { return actions }
        phase = .draining
        isRefused = endsAtFailure
        actions.stopsUpstream = upstreamIsOpen
        actions.wakesConsumer = isQuiet
        return actions
    }

    mutating func upstreamEnded(_ failure: Failure?) -> Actions {
        var actions = Actions()
        upstreamIsOpen = false
        // What it throws when it is cancelled from here is nobody's concern.
        if phase == .taking { upstreamFailure = failure } else { actions.unwantedFailure = failure }
        if phase == .taking { phase = .draining }
        actions.wakesConsumer = isQuiet
        return actions
    }
}

// MARK: - Operations

extension ConcurrentMapStateMachine {
    /// Told twice of the same, it ignores the second.
    mutating func ended(_ place: Place, _ outcome: Outcome) -> Actions {
        var actions = Actions()
        guard let flight = inFlight.removeValue(forKey: place) else { return actions }
        actions.landed = flight
        let number = order == .preserved ? place : arrivedCount
        actions.wakesConsumer = isQuiet
        if phase == .closing || lastNumber.map({ number > $0 }) == true {
            actions.unwanted = [outcome]
        } else {
            arrivedCount += 1
            finished[number] = outcome
            if number == deliveredCount { actions.wakesConsumer = true }
            if case .failure(let error) = outcome { failed(error, number, &actions) }
        }
        return actions
    }

    private mutating func failed(_ error: OperationError, _ number: Int, _ actions: inout Actions) {
        if endsAtFailure {
            lastNumber = number
            for later in finished.keys where later > number {
                if let outcome = finished.removeValue(forKey: later) { actions.unwanted.append(outcome) }
            }
            actions.cancel = flights(after: number)
        } else if case .queueShutDown = error {
            // The queue takes no more: without this an endless upstream would go on failing.
        } else {
            return
        }
        if phase == .taking { phase = .draining }
        actions.stopsUpstream = upstreamIsOpen
    }

    private func flights(after number: Int) -> [Flight] {
        switch order {
        case .preserved: inFlight.filter { $0.key > number }.sorted { $0.key < $1.key }.map(\.value)
        // All will arrive later.
        case .arrival: flights
        }
    }
}

// MARK: - The consumer

extension ConcurrentMapStateMachine {
    enum ConsumerAction {
        /// Upstream has to be started; then to be asked again.
        case start
        case wait
        case deliver(Outcome)
        case upstreamFailed(Failure)
        case cancelled
        case end
    }

    /// For the one who is about to wait: what ``next()`` answers now.
    var mustWait: Bool {
        switch phase {
        case .idle, .over: false
        // With a failure comes the promise that nothing goes on behind it.
        case .taking, .draining: (finished[deliveredCount] == nil || lastNumber == deliveredCount) && !isQuiet
        case .closing: !isQuiet
        }
    }

    /// Delivering makes room.
    mutating func next() -> ConsumerAction {
        if mustWait { return .wait }
        switch phase {
        case .idle:
            phase = .taking
            upstreamIsOpen = true
            return .start
        case .taking, .draining:
            if let outcome = finished.removeValue(forKey: deliveredCount) {
                if lastNumber == deliveredCount { phase = .over }
                deliveredCount += 1
                return .deliver(outcome)
            }
            phase = .over
            if isRefused { return .deliver(.failure(.queueShutDown)) }
            return upstreamFailure.take().map { .upstreamFailed($0) } ?? .end
        case .closing:
            phase = .over
            return .cancelled
        case .over: return .end
        }
    }

    var isOver: Bool { phase == .over }

    /// The consumer was cancelled, or has gone.
    mutating func cancel() -> Actions {
        var actions = Actions()
        switch phase {
        case .idle, .taking, .draining:
            phase = .closing
            actions.cancel = flights
            actions.stopsUpstream = upstreamIsOpen
            actions.unwanted = Array(finished.values)
            actions.unwantedFailure = upstreamFailure.take()
            finished = [:]
            actions.wakesConsumer = isQuiet
        // It comes too late, or for the second time.
        case .closing, .over: break
        }
        return actions
    }
}

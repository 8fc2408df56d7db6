/// The elements of one iteration, from the moment they are taken from upstream until their outputs are delivered. Each
/// element in flight is processed by an operation of its own. A pure value; see ``ConcurrentMap``.
///
/// Elements that are in flight or finished count against the width until their outputs are delivered, and upstream is
/// asked for an element only while there is room. Outputs are delivered by their *number*: the place of the element,
/// or, in the order of arrival, the place among the outputs that have arrived.
struct ConcurrentMapStateMachine<Operation, Output, Failure: Error> {
    typealias Outcome = Result<Output, OperationError>
    /// The index of an element in the order of upstream.
    typealias ElementIndex = Int

    private enum Phase {
        /// The consumer has not asked for an output.
        case idle
        case taking
        /// No further element is taken. The outputs of elements in flight are still delivered.
        case draining
        /// The consumer is gone. The elements in flight are waited for, and no output is delivered.
        case closing
        case ended
    }

    private let width: Int
    private let order: OutputOrder
    /// True if the first failure is the last delivery.
    private let endsAtFailure: Bool
    private var phase = Phase.idle
    private var inFlight = UnfinishedOperations<Operation>()
    /// The outcomes that are not delivered, by their numbers.
    private var finished: [Int: Outcome] = [:]
    private var arrivedCount = 0
    private var deliveredCount = 0
    /// The number of the failure that is the last delivery.
    private var lastNumber: Int?
    private var upstreamIsOpen = false
    private var upstreamFailure: Failure?
    /// The error with which the sequence ends, because the queue takes no further operations.
    private var refusal: OperationError?

    init(width: Int, order: OutputOrder, endsAtFailure: Bool) {
        precondition(width > 0, "Internal inconsistency: a sequence of width \(width) takes no elements")
        self.width = width
        self.order = order
        self.endsAtFailure = endsAtFailure
    }

    /// The effects that the driver performs after unlocking. Members that the driver does not use are returned so that
    /// they are released outside the lock.
    struct Actions {
        var wakesConsumer = false
        /// True if the task that iterates upstream has to be cancelled.
        var stopsUpstream = false
        /// The operations to cancel, in the order of their places.
        var cancel: [Operation] = []
        var completed: Operation?
        var unwanted: [Outcome] = []
        var unwantedFailure: Failure?
    }

    /// The operations that are in flight, in the order of their places.
    var operationsInFlight: [Operation] { inFlight.all }

    /// Returns the last `limit` operations that are in flight, in the order of their places.
    func operationsInFlight(last limit: Int) -> [Operation] { inFlight.latest(limit).reversed() }

    /// True if no operation is in flight and upstream is not iterated.
    private var hasNoWorkInProgress: Bool { inFlight.isEmpty && !upstreamIsOpen }
}

// MARK: - Upstream

extension ConcurrentMapStateMachine {
    enum Room {
        case free
        /// There is no room until an output is delivered or no further element is wanted.
        case full
        case closed
    }

    var room: Room {
        switch phase {
        case .taking: inFlight.count + finished.count < width ? .free : .full
        case .idle, .draining, .closing, .ended: .closed
        }
    }

    /// Records an operation for the next element, and returns the place of the element. Returns `nil` if the iteration
    /// stopped while upstream produced the element.
    mutating func take(_ operation: Operation) -> ElementIndex? {
        guard phase == .taking else { return nil }
        assert(room == .free, "Internal inconsistency: an element is taken although there is no room")
        return inFlight.append(operation)
    }

    /// Takes no further elements, because the queue is closed. The iteration of upstream is cancelled, because upstream
    /// may not produce another element for a long time. The outputs of elements in flight are still delivered.
    ///
    /// - Parameter error: The error with which a sequence ends that a failure ends.
    mutating func queueClosed(_ error: OperationError) -> Actions {
        var actions = Actions()
        guard phase == .taking else { return actions }
        phase = .draining
        refusal = endsAtFailure ? error : nil
        actions.stopsUpstream = upstreamIsOpen
        actions.wakesConsumer = hasNoWorkInProgress
        return actions
    }

    mutating func upstreamEnded(_ failure: Failure?) -> Actions {
        var actions = Actions()
        upstreamIsOpen = false
        // An error that upstream throws after its iteration was cancelled is ignored.
        if phase == .taking { upstreamFailure = failure } else { actions.unwantedFailure = failure }
        if phase == .taking { phase = .draining }
        actions.wakesConsumer = hasNoWorkInProgress
        return actions
    }
}

// MARK: - Operations

extension ConcurrentMapStateMachine {
    /// Stores the outcome of an operation. A second call for the same place has no effect.
    mutating func ended(_ place: ElementIndex, _ outcome: Outcome) -> Actions {
        var actions = Actions()
        guard let operation = inFlight.remove(place) else { return actions }
        actions.completed = operation
        let number = order == .preserved ? place : arrivedCount
        actions.wakesConsumer = hasNoWorkInProgress
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
            actions.cancel = operationsInFlight(after: number)
        } else if case .queueShutDown = error {
            // Every further operation would fail, so upstream, which may be endless, is stopped.
        } else {
            return
        }
        if phase == .taking { phase = .draining }
        actions.stopsUpstream = upstreamIsOpen
    }

    private func operationsInFlight(after number: Int) -> [Operation] {
        switch order {
        case .preserved: inFlight.all(after: number)
        // All operations in flight will arrive later.
        case .arrival: operationsInFlight
        }
    }
}

// MARK: - The consumer

extension ConcurrentMapStateMachine {
    enum ConsumerAction {
        /// Start to iterate upstream, and then ask for the next action.
        case start
        case wait
        case deliver(Outcome)
        case upstreamFailed(Failure)
        case cancelled
        case end
    }

    /// True if ``next()`` would return ``ConsumerAction/wait``.
    var consumerMustWait: Bool {
        switch phase {
        case .idle, .ended: false
        // A failure that ends the sequence is delivered only after all operations in flight and upstream have ended.
        case .taking, .draining:
            (finished[deliveredCount] == nil || lastNumber == deliveredCount) && !hasNoWorkInProgress
        case .closing: !hasNoWorkInProgress
        }
    }

    /// Returns the next step of the consumer. Delivering an output makes room for another element.
    mutating func next() -> ConsumerAction {
        if consumerMustWait { return .wait }
        switch phase {
        case .idle:
            phase = .taking
            upstreamIsOpen = true
            return .start
        case .taking, .draining:
            if let outcome = finished.removeValue(forKey: deliveredCount) {
                if lastNumber == deliveredCount { phase = .ended }
                deliveredCount += 1
                return .deliver(outcome)
            }
            phase = .ended
            if let refusal { return .deliver(.failure(refusal)) }
            return upstreamFailure.take().map { .upstreamFailed($0) } ?? .end
        case .closing:
            phase = .ended
            return .cancelled
        case .ended: return .end
        }
    }

    var hasEnded: Bool { phase == .ended }

    /// Cancels everything that is in progress, because the consumer was cancelled or is gone.
    mutating func cancel() -> Actions {
        var actions = Actions()
        switch phase {
        case .idle, .taking, .draining:
            phase = .closing
            actions.cancel = operationsInFlight
            actions.stopsUpstream = upstreamIsOpen
            actions.unwanted = Array(finished.values)
            actions.unwantedFailure = upstreamFailure.take()
            finished = [:]
            actions.wakesConsumer = hasNoWorkInProgress
        // The cancellation comes after the end, or for the second time.
        case .closing, .ended: break
        }
        return actions
    }
}

import Baton
import Synchronization

/// Records which operations have which unique key, as far as the test can know, and what must not happen.
final class UniqueRecorder: Sendable {
    /// The effect of adding an operation with a unique key.
    enum Entrance {
        case enters
        case isRejected(by: Int)
        case joins(Int)
        case replaces([Int])
    }

    private struct State {
        /// For each key, the operations that have it and may be unfinished, oldest first.
        var owners: [[Int]]
        var joined: [Int: Int] = [:]
        /// The originals whose owners withdrew their interest while joiners were still interested.
        var withdrawn: Set<Int> = []
        /// The operations that were cancelled regardless of their joiners.
        var forced: Set<Int> = []
        /// For each key, the operation whose body ran last.
        var lastRunner: [Int?]
        var runs: [Int]
        var reasons: [[Outcome.Reason]]
        var faults: [String] = []
        var entrances: [Int: Entrance] = [:]
        /// True once an add has brought other operations along, so that later effects of adds are not known.
        var isLost = false
    }

    let census = ResourceCount()
    private let plan: UniquePlan
    /// True if the round runs under a seed. If operations are also added one by one, the effect of each add is known.
    private let isSeeded: Bool
    private var isExact: Bool { isSeeded && plan.addsOneByOne && !state.withLock { $0.isLost } }
    private let state: Locked<State>
    private let operations = Locked<[AsyncOperation<Value>]>([])

    init(_ plan: UniquePlan, isSeeded: Bool) {
        self.plan = plan
        self.isSeeded = isSeeded
        state = Locked(
            State(
                owners: Array(repeating: [], count: plan.keyCount),
                lastRunner: Array(repeating: nil, count: plan.keyCount),
                runs: plan.nodes.map { _ in 0 }, reasons: plan.nodes.map { _ in [] }))
    }

    func add(_ operation: AsyncOperation<Value>) { operations.withLock { $0.append(operation) } }

    /// Returns the operation, or nil if it has not been created yet.
    func operation(_ id: Int) -> AsyncOperation<Value>? {
        operations.withLock { $0.indices.contains(id) ? $0[id] : nil }
    }

    func letGo() {
        let all = operations.withLock { operations in
            defer { operations = [] }
            return operations
        }
        withExtendedLifetime(all) {}
    }

    var faults: [String] { state.withLock { $0.faults } }

    func check(_ isKept: Bool, _ fault: @autoclosure () -> String) {
        if isKept { return }
        let fault = fault()
        state.withLock { $0.faults.append(fault) }
    }

    // MARK: Adding

    /// Adds the operation, and checks the effect. Nothing else may happen in between.
    func adding(_ id: Int, _ add: () async -> Void) async {
        if needsMore(id, withSources: true) { state.withLock { $0.isLost = true } }
        let entrance = willAdd(id)
        await add()
        if let entrance { wasAdded(id, entrance) }
    }

    /// Adds the operation synchronously, and checks the effect before anything else happens.
    func addingAtOnce(_ id: Int, withSources: Bool, _ add: () -> Void) {
        if needsMore(id, withSources: withSources) { state.withLock { $0.isLost = true } }
        let entrance = willAdd(id)
        add()
        guard let entrance else { return }
        wasAdded(id, entrance)
        guard case .replaces(let former) = entrance, !isInCycle(id) else { return }
        for other in former {
            guard let operation = operation(other) else { continue }
            check(operation.isCancelled || operation.state == .finished, "n\(id) has not cancelled n\(other)")
        }
    }

    /// Returns true if the add would bring other operations along: the inputs, or, with sources, everything that the
    /// operation or an operation with the same key needs.
    private func needsMore(_ id: Int, withSources: Bool) -> Bool {
        let owners = state.withLock { $0.owners }
        var seen: Set<Int> = [id]
        var frontier = [id]
        while let next = frontier.popLast() {
            if next != id, operation(next)?.state == .created { return true }
            let node = plan.nodes[next]
            let alike = node.key.map { owners[$0] } ?? []
            let needed = withSources ? node.sources + alike : node.input.map { [$0] } ?? []
            frontier += needed.filter { seen.insert($0).inserted }
        }
        return false
    }

    /// Predicts the effect of the add, or returns nil if it is not known.
    private func willAdd(_ id: Int) -> Entrance? {
        guard isExact, let key = plan.nodes[id].key, operation(id)?.state == .created else { return nil }
        let owners = state.withLock { $0.owners[key] }.filter { operation($0).map { $0.state != .finished } ?? false }
        let policy = plan.nodes[id].policy
        return state.withLock { state in
            let entrance: Entrance
            if let newest = owners.last {
                switch policy {
                case .reject: entrance = .isRejected(by: newest)
                case .join: entrance = .joins(newest)
                case .replace: entrance = .replaces(owners)
                }
            } else {
                entrance = .enters
            }
            state.owners[key] = owners
            switch entrance {
            case .isRejected: break
            case .joins(let original): state.joined[id] = original
            case .enters: state.owners[key].append(id)
            case .replaces:
                state.owners[key].append(id)
                state.forced.formUnion(owners)
            }
            state.entrances[id] = entrance
            return entrance
        }
    }

    private func wasAdded(_ id: Int, _ entrance: Entrance) {
        let error = operation(id)?.error.map { Outcome($0) }
        let isRejected = if case .duplicate? = error { true } else { false }
        // The body that runs the operation was cancelled before the add.
        let wasCancelled =
            switch error {
            case .cancelled(.parent)?: true
            case .cancelled?: !reasons(id).isEmpty
            default: false
            }
        switch entrance {
        case .isRejected(let other) where !wasCancelled:
            check(error == .duplicate(of: other), "n\(id) is not rejected because of n\(other), but \(error ?? .cycle)")
        case .enters, .joins, .replaces, .isRejected: check(!isRejected, "n\(id) is rejected: \(error!)")
        }
    }

    private func isInCycle(_ id: Int) -> Bool { operation(id)?.error.map { Outcome($0) } == .cycle }

    func entrance(_ id: Int) -> Entrance? { state.withLock { $0.entrances[id] } }

    // MARK: Cancelling

    func cancel(_ id: Int, because reason: Outcome.Reason, _ cancel: (AsyncOperation<Value>) -> Void) {
        guard let operation = operation(id) else { return }
        let joiners = joiners(of: id)
        let hasFinished = operation.state == .finished
        state.withLock { state in
            state.reasons[id].append(reason)
            if joiners.isEmpty { state.forced.insert(id) } else { state.withdrawn.insert(id) }
        }
        cancel(operation)
        if !isExact { return }
        if state.withLock({ $0.joined[id] != nil }) {
            check(operation.state == .finished, "n\(id) has joined another one, was cancelled, and has not ended")
        }
        if !hasFinished { checkInterest() }
    }

    private func joiners(of id: Int) -> [Int] {
        let all = state.withLock { $0.joined.filter { $0.value == id }.keys }
        return all.filter { operation($0).map { $0.state != .finished } ?? false }
    }

    /// Checks that an original is cancelled if, and only if, its owner and all of its joiners have lost interest.
    func checkInterest() {
        if !isExact { return }
        let (withdrawn, forced) = state.withLock { ($0.withdrawn, $0.forced) }
        for id in withdrawn where !forced.contains(id) && plan.nodes[id].waitingLimit == nil {
            guard let operation = operation(id), operation.state != .finished else { continue }
            let joiners = joiners(of: id)
            check(
                operation.isCancelled == joiners.isEmpty,
                "n\(id) is\(operation.isCancelled ? "" : " not") cancelled, and \(joiners) have joined it")
        }
    }

    func reasons(_ id: Int) -> [Outcome.Reason] { state.withLock { $0.reasons[id] } }

    // MARK: Running

    /// Checks that the previous operation with this key has finished. It is not enough that its body has returned,
    /// because the operation could have another attempt.
    func bodyBegan(_ id: Int, _ attempt: Int) {
        let key = plan.nodes[id].key
        let former = state.withLock { state -> Int? in
            state.runs[id] += 1
            guard let key else { return nil }
            defer { state.lastRunner[key] = id }
            return state.lastRunner[key]
        }
        check(runs(id) == attempt, "G2: n\(id) has run \(runs(id)) times, and this is attempt \(attempt)")
        if let former, former != id, let other = operation(former) {
            check(other.state == .finished, "n\(id) runs, and n\(former) of its identity is \(other.state)")
        }
        checkInterest()
    }

    func runs(_ id: Int) -> Int { state.withLock { $0.runs[id] } }
}

import Baton
import BatonTesting
import Synchronization

/// The way in which a node with the feature `cycle` is on a cycle.
enum CycleKind {
    /// The node depends on an operation that depends, perhaps through others, on the node.
    case ofDependencies
    /// The body runs an operation that depends on the node.
    case run
    /// The body awaits the value of an operation that depends on the node.
    case value
    /// A dependency of the node also depends on the node.
    case amongNodes

    init?(_ node: HuntProgram.Node) {
        guard node.features.contains(.cycle) else { return nil }
        switch node.choice % 6 {
        case 0, 1, 2: self = .ofDependencies
        case 3: self = .run
        case 4: self = .value
        default: self = .amongNodes
        }
    }
}

/// The time limit of a node with the feature `timeLimit`.
enum LimitKind {
    /// A limit that nothing exceeds.
    case long
    /// A limit for the attempts, which nothing else ends.
    case attempt
    /// A limit for the wait for a dependency that does not finish.
    case waiting

    init?(_ node: HuntProgram.Node) {
        guard node.features.contains(.timeLimit) else { return nil }
        switch node.choice / 2 % 3 {
        case 0: self = .long
        case 1: self = .attempt
        default: self = .waiting
        }
    }
}

/// Sequences, groups with a width, waits for idleness, cycles and orders that bodies use.
extension HuntRound {
    /// Delivers numbers to operations, and checks the order of the outputs and how many operations are under way.
    func deliver(_ node: HuntProgram.Node) async {
        let choice = node.choice
        let (count, width) = (choice % 9, 1 + choice / 9 % 3)
        let failing = choice / 27 % 4 == 0 ? choice / 108 % 9 : -1
        let end = choice / 108 % 3 == 0 ? choice / 324 % 9 : Int.max
        let order: OutputOrder = choice / 2 % 2 == 0 ? .preserved : .arrival
        let target = choice % program.queues.count
        let (underWay, token) = (HuntCounts.Counter(limit: width), living.token())
        let outputs = (0..<count).deliver(on: queue(target), width: width, order: order) { [self] number in
            token.touch()
            begin(target)
            defer { counts.endHolding(target) }
            if let count = underWay.begin() { fault("n\(node.id): \(count) elements at once, of \(width)") }
            checkTag(node.id, "an operation of a sequence")
            if (choice + number) % 3 == 0 { await Task.yield() }
            underWay.end()
            if number == failing { throw Oops(token: token) }
            return number
        }
        var seen: [Int] = []
        var failure: (any Error)?
        await waiting(node.queue) {
            do {
                for try await number in outputs {
                    seen.append(number)
                    if seen.count == end { break }
                }
            } catch { failure = error }
        }
        let text = "n\(node.id): \(seen) of \(count), in order \(order), failing at \(failing)"
        if order == .preserved ? seen != Array(0..<seen.count) : Set(seen).count != seen.count { fault(text) }
        if seen.contains(where: { !(0..<count).contains($0) || $0 == failing }) { fault(text) }
        if let failure {
            // A barrier waits for the body, and the operations of the sequence wait for the barrier.
            let mayFail = !program.allFeatures.isDisjoint(with: [.cancelAll, .shutdown, .barrier]) || Task.isCancelled
            if !(0..<count).contains(failing), !mayFail { fault("\(text): \(failure)") }
        } else if seen.count != end, seen.count != count || (0..<count).contains(failing) {
            fault("\(text): the sequence has ended")
        }
    }

    /// Makes a group that runs fewer children at a time than it has.
    func narrowGroup(_ node: HuntProgram.Node) -> GroupOperation {
        let width = 1 + node.choice / 2 % 3
        let (atOnce, token) = (HuntCounts.Counter(limit: width), living.token())
        let children = (0..<3 + node.choice / 6 % 6).map { number in
            AsyncOperation<Void>("n\(node.id), child \(number) of \(width) at once") { [self] context in
                token.touch()
                begin(node.queue)
                if let count = atOnce.begin() { fault("n\(node.id): \(count) children at once, of \(width)") }
                defer {
                    atOnce.end()
                    counts.endHolding(node.queue)
                }
                if (node.choice + number) % 3 == 0 {
                    let grandchild = child(number % 9, of: node, depth: 1)
                    await waiting(node.queue) { _ = try? await context.run(grandchild) }
                } else {
                    for _ in 0..<number % 3 { await Task.yield() }
                }
                if (node.choice + number) % 13 == 0 { throw Oops(token: token) }
            }
        }
        return GroupOperation(
            "n\(node.id)", children, policy: GroupPolicy.allCases[node.choice / 8 % 3],
            maxConcurrentOperationCount: width)
    }

    // MARK: Order

    /// Runs short chains in a queue of width 1, and checks their order.
    func runInOrder(_ node: HuntProgram.Node) async {
        let order = SchedulingOrder.allCases[node.choice % 3]
        let queue = AsyncOperationQueue(
            name: "ordered", maxConcurrentOperationCount: 1, isSuspended: true, onMisuse: { [self] in fault("\($0)") })
        queue.schedulingOrder = order
        var random = SeededGenerator(seed: UInt64(node.choice))
        let ran = EventLog<String>()
        var added: [AnyOperation] = []
        var chains: [(isUrgent: Bool, names: [String])] = []
        for number in 0..<Int.random(in: 2...6, using: &random) {
            let isUrgent = Int.random(in: 0..<3, using: &random) == 0
            let names = ["a", "b", "c"].prefix(Int.random(in: 1...3, using: &random)).map { "\(number)\($0)" }
            var last: AnyOperation?
            for name in names {
                let operation = AsyncOperation(name) {
                    ran(name)
                    if number % 2 == 0 { await Task.yield() }
                }
                if isUrgent { operation.priority = .high }
                if let last { operation.addDependency(last) }
                last = operation
                added.append(operation)
            }
            chains.append((isUrgent, names))
        }
        if Bool.random(using: &random) { queue.add(added) } else { for operation in added { queue.add(operation) } }
        queue.isSuspended = false
        await waiting(node.queue) { await queue.waitUntilIdle() }
        let expected = [true, false].flatMap { isUrgent in
            let chains = chains.filter { $0.isUrgent == isUrgent }.map(\.names)
            return switch order {
            case .firstInFirstOut: (0..<3).flatMap { step in chains.compactMap { step < $0.count ? $0[step] : nil } }
            case .lastInFirstOut: chains.reversed().flatMap { $0 }
            default: chains.flatMap { $0 }
            }
        }
        if ran.events != expected { fault("n\(node.id): in order \(order), \(ran.events) ran instead of \(expected)") }
    }

    /// Checks that a queue of width 1 with FIFO order has started those operations that nothing holds back in the order
    /// in which a script has added them.
    func checkOrder() {
        let reordering: Set<Feature> = [.priority, .width, .barrier, .awaitsValue]
        guard program.allFeatures.isDisjoint(with: reordering) else { return }
        let waiting: Set<Feature> = [
            .exclusion, .waitingLimit, .unique, .group, .condition, .submit, .delay, .ownExecutor, .edges,
            .cancelledRun, .heldDependency, .combination, .rate, .breaker, .scope, .cycle, .timeLimit, .groupWidth,
        ]
        let depended = program.nodes.reduce(into: Set<Int>()) { $0.formUnion($1.dependencies) }
        for (index, queue) in program.queues.enumerated() where queue.width == 1 && queue.order == .firstInFirstOut {
            for script in program.scripts {
                let added = script.flatMap { if case .add(let ids) = $0 { ids } else { [] as [Int] } }
                let starts = added.filter { id in
                    let node = program.nodes[id]
                    return node.queue == index && node.dependencies.isEmpty && !depended.contains(id)
                        && node.features.isDisjoint(with: waiting)
                }.map { (id: $0, start: records[$0].start.load(ordering: .relaxed)) }.filter { $0.start > 0 }
                for (first, second) in zip(starts, starts.dropFirst()) where first.start > second.start {
                    fault("n\(first.id) was added before n\(second.id) in FIFO order, and started later")
                }
            }
        }
    }

    // MARK: Idleness

    /// Waits in the body until another queue is idle.
    func waitForIdleness(_ node: HuntProgram.Node) async {
        let usesNames = !program.allFeatures.isDisjoint(with: [.exclusion, .scope])
        if node.choice % 200 == 0, !hasWaitedInCycle.exchange(true, ordering: .relaxed) {
            await waitForEachOther(node)
        } else if node.choice % 32 == 1, program.queues.count > 1, !usesNames {
            // This may be a cycle, which ends after a second or more.
            await waiting(node.queue) { await queue(1 - node.queue).waitUntilIdle() }
        } else {
            let queue = AsyncOperationQueue(
                name: "awaited", maxConcurrentOperationCount: 1 + node.choice % 3,
                onMisuse: { [self] in fault("n\(node.id): \($0)") })
            let (finished, token) = (HuntCounts.Counter(limit: .max), living.token())
            let count = node.choice / 3 % 5
            for number in 0..<count {
                queue.add("n\(node.id), awaited \(number)") {
                    token.touch()
                    for _ in 0..<number { await Task.yield() }
                    finished.now.add(1, ordering: .relaxed)
                }
            }
            await waiting(node.queue) { await queue.waitUntilIdle() }
            let done = finished.now.load(ordering: .relaxed)
            if done != count || queue.operationCount != 0 {
                fault("n\(node.id): the queue is idle after \(done) of \(count), and has \(queue.operationCount)")
            }
        }
    }

    /// Waits for two queues, each of which has a body that waits for the idleness of the other one.
    private func waitForEachOther(_ node: HuntProgram.Node) async {
        let found = Guarded(0)
        let queues = ["first", "second"].map { name in
            AsyncOperationQueue(name: name) { misuse in
                if case .idlenessCycle = misuse.kind { found.withLock { $0 += 1 } }
            }
        }
        let (queue, other) = (queues[0], queues[1])
        let gates = (Gate(), Gate())
        let operations = [
            queue.add("n\(node.id), first of two queues") {
                gates.0.open()
                await gates.1.wait()
                await other.waitUntilIdle()
            },
            other.add("n\(node.id), second of two queues") {
                gates.1.open()
                await gates.0.wait()
                await queue.waitUntilIdle()
            },
        ]
        await waiting(node.queue) { for operation in operations { try? await operation.value } }
        if found.withLock({ $0 }) == 0 { fault("n\(node.id): two queues waited for each other, and it is no misuse") }
    }

    // MARK: Cycles

    /// Adds operations that form a cycle with the node.
    func addCycle(to operation: AnyOperation, _ node: HuntProgram.Node) {
        guard CycleKind(node) == .ofDependencies else { return }
        let token = living.token()
        let members = (0...node.choice / 6 % 3).map { number in
            AsyncOperation<Void>("n\(node.id), \(number) on its cycle") { [self] context in
                token.touch()
                for dependency in context.dependencies.operations where dependency.state != .finished {
                    fault("n\(node.id): \(number) on its cycle runs, and \(dependency) has not finished")
                }
            }
        }
        for (member, next) in zip(members, members.dropFirst()) { member.addDependency(next) }
        operation.addDependency(members[0])
        members.last?.addDependency(operation)
        companions.withLock { $0[node.id, default: []] += members }
        cycles.withLock { $0[node.id] = members }
    }

    /// Checks that all operations on the cycle have failed, if nothing else may have ended one of them before.
    func checkCycle(_ node: HuntProgram.Node, _ operation: AnyOperation) {
        guard let members = cycles.withLock({ $0[node.id] }) else { return }
        // If the node ends before its add, nobody may add the others.
        for member in members where member.state != .finished && member.state != .created {
            fault("n\(node.id) has finished, and \(member) has not: \(member.explain())")
        }
        let others: Set<Feature> = [.cancel, .waitingLimit, .heldDependency, .timeLimit, .barrier]
        guard program.allFeatures.isDisjoint(with: [.cancelAll, .shutdown, .deinits, .cancelledRun]),
            node.features.isDisjoint(with: others), !program.mayBeReplaced.contains(node.id)
        else { return }
        for member in members + [operation] {
            if case .dependencyCycle? = member.error { continue }
            fault("\(member) is on a cycle of n\(node.id), and ended with \(member.error.map { "\($0)" } ?? "success")")
        }
    }

    /// Waits in the body for an operation that depends on the node. The wait must fail.
    func waitInCycle(_ node: HuntProgram.Node, _ context: OperationContext) async {
        guard let kind = CycleKind(node), kind == .run || kind == .value else { return }
        let token = living.token()
        let dependent = AsyncOperation("n\(node.id), its dependent") { token.touch() }.addDependency(context.operation)
        let queue = queue(node.choice / 6 % program.queues.count)
        await waiting(node.queue) {
            do {
                if kind == .run {
                    try await context.run(dependent)
                } else {
                    queue.add(dependent)
                    try await dependent.value
                }
                fault("n\(node.id): an operation that depends on it has run in its body")
            } catch {}
        }
    }

    // MARK: Time limits

    func checkLimit(_ node: HuntProgram.Node, _ operation: AnyOperation) {
        // The follower of a unique operation has the outcome of another one.
        guard let kind = LimitKind(node), !node.features.contains(.unique) else { return }
        let bodies = records[node.id].bodies.load(ordering: .relaxed)
        switch kind {
        case .long: if case .timedOut? = operation.error { fault("n\(node.id): timed out after less than 600 seconds") }
        case .attempt:
            if bodies > 0, operation.error == nil { fault("n\(node.id): succeeded, and only its limit ends its body") }
        case .waiting:
            if bodies > 0 { fault("n\(node.id): its body ran, and its dependency has not finished") }
            if operation.error == nil { fault("n\(node.id): succeeded, and its dependency has not finished") }
        }
    }
}

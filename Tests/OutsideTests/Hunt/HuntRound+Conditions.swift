import Baton
import Synchronization

/// Conditions that are combined, rates, circuit breakers and scopes.
extension HuntRound {
    // MARK: Making

    func configureConditions(_ operation: AnyOperation, _ node: HuntProgram.Node) {
        if node.features.contains(.exclusion) { add(exclusion(node.choice % 3), to: operation, node) }
        if node.features.contains(.scope) { add(scopedExclusion(node), to: operation, node) }
        if node.features.contains(.rate) {
            add(.rate("hunt \(unique)", rate.count, per: rate.period, burst: rate.burst), to: operation, node)
        }
        if node.features.contains(.breaker) { addBreaker(to: operation, node) }
        if node.features.contains(.combination) {
            let formula = HuntFormula(of: node).condition { number, answer in leaf(number, answer, of: node) }
            operation.addCondition(formula)
        }
    }

    /// Adds the condition, in some operations as a part of another one.
    private func add(_ condition: some OperationCondition, to operation: AnyOperation, _ node: HuntProgram.Node) {
        let yes = HuntCondition(name: "yes") { _ in .satisfied }
        switch node.features.contains(.combination) ? node.choice / 3 % 4 : 0 {
        case 1: operation.addCondition(condition.and(yes))
        case 2: operation.addCondition(yes.or(condition))
        case 3: operation.addCondition(yes.and(condition.negated.or(condition)))
        default: operation.addCondition(condition)
        }
    }

    private func leaf(_ number: Int, _ answer: HuntFormula.Answer, of node: HuntProgram.Node) -> any OperationCondition
    {
        let (token, record) = (living.token(), records[node.id])
        let brings = (node.choice + number) % 4 == 0
        let isSilent = node.choice / 4 % 2 == 0
        let brought = brings ? child(9, of: node, depth: 2) : nil
        let condition = HuntCondition(name: "n\(node.id) leaf \(number)", brought: brought) { [self] dependency in
            token.touch()
            if record.leaves.bitwiseOr(1 << UInt64(number), ordering: .relaxed).oldValue & 1 << UInt64(number) != 0 {
                fault("n\(node.id): leaf \(number) is evaluated twice")
            }
            if brings, dependency?.state != (isSilent ? nil : .finished) {
                fault("n\(node.id): leaf \(number) is evaluated after \(dependency.map { "\($0)" } ?? "nothing")")
            }
            if HuntLocal.tag != nil { fault("n\(node.id): leaf \(number) sees a task-local") }
            if node.choice % 3 == 0 { await Task.yield() }
            if node.features.contains(.selfCancel), number == 1 { cancelThisTask() }
            switch answer {
            case .satisfied: return .satisfied
            case .skip(let number): return .skip("n\(node.id) leaf \(number)")
            case .failure: throw Oops(token: token)
            }
        }
        return isSilent ? condition.silent : condition
    }

    private func addBreaker(to operation: AnyOperation, _ node: HuntProgram.Node) {
        let (record, breaker) = (records[node.id], breaker(of: node))
        let probe = HuntCondition(name: "probe") { _ in
            // The breaker admits an operation once. Later changes of its state do not count.
            if !record.hasAskedBreaker.exchange(true, ordering: .relaxed), breaker.state == .open {
                record.sawOpenBreaker.store(true, ordering: .relaxed)
            }
            return .satisfied
        }
        operation.addCondition(probe.and(breaker))
    }

    /// The first breaker never allows a trial. The second one allows one soon.
    func breaker(of node: HuntProgram.Node) -> CircuitBreaker { breakers[node.choice / 5 % 4 == 0 ? 1 : 0] }

    func exclusion(_ name: Int) -> Exclusion {
        .limited("hunt \(unique) \(name)", to: Self.limits[name], within: usesScopes ? .process : nil)
    }

    var usesScopes: Bool { program.allFeatures.contains(.scope) }

    /// The scope that a queue has in a program that uses scopes, and its place.
    func scope(ofQueue index: Int) -> (scope: OperationScope, place: Int) {
        switch (Int(program.seed / 7 % 4) + index) % 4 {
        case 0: (scopes[0], 0)
        case 1: (scopes[1], 1)
        case 2: (.queue, 2 + index)
        default: (.process, 4)
        }
    }

    /// The place of the scope in which the scoped exclusion of a node counts.
    private func scopePlace(of node: HuntProgram.Node) -> Int {
        switch node.choice / 7 % 4 {
        case 0: 0
        case 1: 1
        case 2: 2 + node.queue
        default: scope(ofQueue: node.queue).place
        }
    }

    private func scopedExclusion(_ node: HuntProgram.Node) -> Exclusion {
        let scope: OperationScope? =
            switch node.choice / 7 % 4 {
            case 0: scopes[0]
            case 1: scopes[1]
            case 2: .queue
            default: nil
            }
        return .mutuallyExclusive("hunt \(unique) scoped", within: scope)
    }

    // MARK: Checking

    /// The numbers of the exclusions that the body of a node holds.
    func exclusionsHeld(by node: HuntProgram.Node) -> [Int] {
        (node.features.contains(.exclusion) ? [node.choice % 3] : [])
            + (node.features.contains(.scope) ? [Self.limits.count + scopePlace(of: node)] : [])
    }

    /// Checks at the beginning of a body that the conditions have allowed it.
    func checkConditions(before node: HuntProgram.Node) {
        if node.features.contains(.rate), let text = rate.start() { fault("n\(node.id): \(text)") }
        if node.features.contains(.breaker), breaker(of: node) === breakers[0],
            records[node.id].sawOpenBreaker.load(ordering: .relaxed)
        {
            fault("n\(node.id): its body runs, and the circuit breaker was open")
        }
    }

    /// Runs an operation that needs the same name in another scope, while the body holds the name.
    func runInAnotherScope(_ node: HuntProgram.Node) async {
        let other = AsyncOperation("n\(node.id), in another scope") {}
            .addCondition(.mutuallyExclusive("hunt \(unique) scoped", within: OperationScope("another")))
        outer.add(other)
        await waiting(node.queue) {
            do { try await other.value } catch { fault("n\(node.id): the same name in another scope: \(error)") }
        }
    }

    /// Checks the outcome of an operation with a combined condition.
    func checkFormula(_ node: HuntProgram.Node, _ operation: AnyOperation) {
        guard node.features.contains(.combination) else { return }
        let record = records[node.id]
        var needed: Set<Int> = []
        let expected = HuntFormula(of: node).answer(noting: &needed)
        let leaves = record.leaves.load(ordering: .relaxed)
        for number in 0..<8 where leaves & 1 << UInt64(number) != 0 && !needed.contains(number) {
            fault("n\(node.id): leaf \(number) was evaluated although the others decide: \(HuntFormula(of: node))")
        }
        if expected != .satisfied, record.bodies.load(ordering: .relaxed) > 0 {
            fault("n\(node.id): its body ran although its condition answers \(expected): \(HuntFormula(of: node))")
        }
        // The follower of a unique operation has the outcome of another one.
        if node.features.contains(.unique) { return }
        switch operation.error {
        case nil:
            if expected != .satisfied { fault("n\(node.id): succeeded although its condition answers \(expected)") }
        case .skipped(.condition(let text))? where text.hasPrefix("n\(node.id) leaf"):
            if case .skip(let number) = expected, text == "n\(node.id) leaf \(number)" { return }
            fault("n\(node.id): skipped with \(text), and its condition answers \(expected): \(HuntFormula(of: node))")
        case .conditionFailed(let name, _)? where name.contains("n\(node.id) leaf"):
            if expected != .failure {
                fault("n\(node.id): \(name) has failed, and answers \(expected): \(HuntFormula(of: node))")
            }
        default: break
        }
    }

    /// Checks that the circuit breaker that never allows a trial has refused nothing before enough failures.
    func checkBreaker() {
        var (failures, refusals) = (0, 0)
        for node in program.nodes where node.features.contains(.breaker) && breaker(of: node) === breakers[0] {
            guard let error = operation(node.id)?.error else { continue }
            if error.stage == .execution { failures += 1 }
            if case .conditionFailed(_, let cause) = error, let refusal = cause as? CircuitOpenError,
                refusal.circuit == breakers[0].circuit
            {
                refusals += 1
            }
        }
        let state = breakers[0].state
        let mayBeOpen = failures >= breakerLimit
        if !mayBeOpen && (refusals > 0 || state != .closed) || refusals > 0 && state != .open {
            fault("\(failures) failures of \(breakerLimit), and \(refusals) refusals: the circuit breaker is \(state)")
        }
    }
}

/// Finds operations that wait for one another, and ends them.
///
/// A search is made when operations have been linked or a body has begun to wait, so that the whole cycle can be seen:
/// if several threads add one member each, the thread that links last sees the links of all others. Two threads may
/// both find the cycle.
///
/// A search explores upstream and downstream of the new edges in turns, and ends when one side has been explored
/// completely, because nearly always there is next to nothing on one side. It looks at ``Budget`` edges at most. If it
/// cannot decide by then, it leaves the rest to ``QueueCore/sweep()``, which looks once at everything that has been
/// left to it.
enum CycleFinder {
    /// A wait, or an operation that has been added, that may have closed a cycle.
    struct Suspect {
        /// The operation that the body waits for, or the operation that has been added.
        let operation: AnyOperation
        /// The operation whose body waits. Nil if the suspect is an operation that has been added.
        var body: AnyOperation?
    }

    /// How many edges a search looks at before it is put off.
    struct Budget {
        /// The limit while there is no sign of a cycle. Nil means no limit.
        let usual: Int?
        /// The limit if there probably is a cycle. It is higher because that is rare, and so that small cycles are
        /// broken in the call that closes them.
        let ifPromising: Int?

        static let unlimited = Budget(usual: nil, ifPromising: nil)

        /// - Parameters:
        ///   - links: The number of edges that are new.
        ///   - isBehind: True if another search has been put off already.
        init(links: Int, isBehind: Bool) {
            // A search that is put off costs little more if a sweep comes anyway.
            let usual = isBehind ? 32 : 256
            self.init(usual: usual + 8 * links, ifPromising: 8 * (usual + links))
        }

        private init(usual: Int?, ifPromising: Int?) {
            self.usual = usual
            self.ifPromising = ifPromising
        }
    }

    enum Verdict: Equatable {
        /// There is no cycle, or it has been broken.
        case free
        /// All members of this cycle are bodies that wait for one another, so one of the waits has to be refused.
        case refused([OperationReference])
        case undecided
    }

    /// Breaks the cycles that the suspects have closed.
    static func search(_ suspects: [Suspect], _ budget: Budget) -> Verdict {
        while true {
            switch mayBeOnCycle(suspects, budget) {
            case false?: return .free
            case nil: return .undecided
            case true?: break
            }
            var upstream = WaitExploration(from: suspects.map(\.operation), .upstreamOfUnadded)
            if !upstream.run(upTo: budget.ifPromising) { return .undecided }
            let result = CycleBreaker(upstream, closedBy: suspects).perform()
            if let refusal = result.refusals.first { return .refused(refusal.path) }
            if !result.mustLookAgain { return .free }
        }
    }

    /// Returns the cycle if the wait has to be refused. The search has no limit.
    static func refusal(of wait: Suspect) -> [OperationReference]? {
        if case .refused(let path) = search([wait], .unlimited) { path } else { nil }
    }

    /// Returns nil if the budget does not suffice to decide.
    private static func mayBeOnCycle(_ suspects: [Suspect], _ budget: Budget) -> Bool? {
        let sources = suspects.lazy.map(\.operation)
        let bodies = suspects.lazy.map { $0.body ?? $0.operation }
        var downstream = WaitExploration(from: bodies, .downstream, goals: sources)
        var upstream = WaitExploration(from: sources, .upstream, goals: bodies)
        while true {
            if downstream.isExhausted { return downstream.hasReachedGoal && downstream.graph.hasCycle }
            if upstream.isExhausted { return upstream.hasReachedGoal && upstream.graph.hasCycle }
            let isPromising = downstream.hasReachedGoal || upstream.hasReachedGoal
            if let limit = isPromising ? budget.ifPromising : budget.usual, downstream.steps + upstream.steps >= limit {
                return nil
            }
            downstream.step()
            upstream.step()
        }
    }
}

extension CycleFinder {
    /// Returns a shortest cycle, or nil: each member waits for the next one, and the last member for `origin`. The
    /// search goes upstream only, because `origin` is not linked yet, so no operation is known to wait for it.
    static func cycle(
        through origin: AnyOperation, waitsFor neighbours: (AnyOperation) -> [AnyOperation]
    ) -> [AnyOperation]? {
        var found: [(operation: AnyOperation, from: Int)] = [(origin, -1)]
        var seen: Set<ObjectIdentifier> = []
        var next = 0
        while next < found.count {
            for neighbour in neighbours(found[next].operation) {
                if neighbour === origin { return path(to: next, in: found) }
                if seen.insert(ObjectIdentifier(neighbour)).inserted { found.append((neighbour, next)) }
            }
            next += 1
        }
        return nil
    }

    private static func path(to end: Int, in found: [(operation: AnyOperation, from: Int)]) -> [AnyOperation] {
        var path: [AnyOperation] = []
        var place = end
        while place >= 0 {
            path.append(found[place].operation)
            place = found[place].from
        }
        return path.reversed()
    }
}

extension AnyOperation {
    /// True if the operation has been added and has not begun.
    final var isUnrun: Bool { !isFence && withLife { $0.phase == .added } }
}

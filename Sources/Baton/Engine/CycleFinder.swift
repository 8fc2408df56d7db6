/// Finds operations that wait for one another, and ends them.
///
/// Called when operations have been linked, or a body has begun to wait, so the whole cycle can be seen: of several
/// threads that each add a member, the one that links last sees all the others' links. Two threads may both find it.
///
/// A search looks both ways from what is new, upstream and downstream in turns, and ends when one side has been seen
/// whole: nearly always there is next to nothing on one side. It looks at ``budget`` edges. What it cannot decide by
/// then is left to ``QueueCore/sweep()``, which looks at all that has come together meanwhile, once.
enum CycleFinder {
    /// A wait, or an operation that has been added, that may have closed a cycle.
    struct Suspect {
        /// What is waited for through the new edges, or the operation that has them.
        let operation: AnyOperation
        /// The operation whose body waits for the other one. Nil: that has been added.
        var body: AnyOperation?
    }

    /// How much a search looks at before it is put off.
    struct Budget {
        /// Without a sign of a cycle. Nil: no limit.
        let usual: Int?
        /// If there probably is one: rare enough to look on, and small ones are broken in the call that closes them.
        let ifPromising: Int?

        static let unlimited = Budget(usual: nil, ifPromising: nil)

        /// - Parameter isBehind: Another search has been put off already.
        init(links: Int, isBehind: Bool) {
            // What has been put off costs a sweep anyway.
            let usual = isBehind ? 32 : 256
            self.init(usual: usual + 8 * links, ifPromising: 8 * (usual + links))
        }

        private init(usual: Int?, ifPromising: Int?) {
            self.usual = usual
            self.ifPromising = ifPromising
        }
    }

    enum Verdict: Equatable {
        /// There is no cycle, or none any more.
        case free
        /// All on this cycle are bodies that wait for one another: one of the waits has to be refused.
        case refused([OperationReference])
        case undecided
    }

    /// Breaks the cycles that these have closed.
    static func search(_ suspects: [Suspect], _ budget: Budget) -> Verdict {
        while true {
            switch mayBeOnCycle(suspects, budget) {
            case false?: return .free
            case nil: return .undecided
            case true?: break
            }
            var upstream = WaitExploration(from: suspects.map(\.operation), .upstreamOfUnadded)
            if !upstream.run(upTo: budget.ifPromising) { return .undecided }
            let breaking = CycleBreaking(upstream, closedBy: suspects)
            let result = breaking.perform()
            if let refusal = result.refusals.first { return .refused(refusal.path) }
            if !result.mustLookAgain { return .free }
        }
    }

    /// The path, if it has to be refused. Looks as far as it takes.
    static func refusal(of wait: Suspect) -> [OperationReference]? {
        if case .refused(let path) = search([wait], .unlimited) { path } else { nil }
    }

    /// Nil: it would take more than the budget to know.
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
    /// A shortest cycle: each member waits for the next, and the last for `origin`. Searched from one side, for one
    /// that is not linked: nothing is known to wait for it.
    static func cycle(
        through origin: AnyOperation, waitsFor: @escaping (AnyOperation) -> [AnyOperation]
    ) -> [AnyOperation]? {
        var search = Search(from: origin, neighbours: waitsFor)
        while true {
            switch search.step() {
            case .closed(let path): return path
            case .exhausted: return nil
            case .goingOn: break
            }
        }
    }

    private struct Search {
        enum Step {
            case closed([AnyOperation])
            case exhausted
            case goingOn
        }

        private let origin: AnyOperation
        private let neighbours: (AnyOperation) -> [AnyOperation]
        private var found: [(operation: AnyOperation, from: Int)]
        private var seen: Set<ObjectIdentifier> = []
        private var next = 0

        init(from origin: AnyOperation, neighbours: @escaping (AnyOperation) -> [AnyOperation]) {
            self.origin = origin
            self.neighbours = neighbours
            found = [(origin, -1)]
        }

        mutating func step() -> Step {
            guard next < found.count else { return .exhausted }
            let place = next
            next += 1
            for neighbour in neighbours(found[place].operation) {
                if neighbour === origin { return .closed(path(to: place)) }
                if seen.insert(ObjectIdentifier(neighbour)).inserted { found.append((neighbour, place)) }
            }
            return next < found.count ? .goingOn : .exhausted
        }

        private func path(to place: Int) -> [AnyOperation] {
            var path: [AnyOperation] = []
            var place = place
            while place >= 0 {
                path.append(found[place].operation)
                place = found[place].from
            }
            return path.reversed()
        }
    }
}

extension AnyOperation {
    /// Added and not begun.
    final var isUnrun: Bool { !isFence && withLife { $0.phase == .added } }
}

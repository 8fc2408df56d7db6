/// Finds operations that wait for one another, and ends them.
///
/// Called after an operation has been linked, or a body has begun to wait, so the whole circle can be seen: of several
/// threads that each add a member, the one that links last sees all the others' links. Two threads may both find it.
enum CycleFinder {
    /// Fails every operation on a circle through `origin` that has not begun. Returns the path if there is none such on it.
    static func breakCycles(through origin: AnyOperation) -> [OperationReference]? {
        while let members = circle(
            through: origin, waitsFor: { $0.waitsFor }, isWaitedForBy: { $0.isWaitedForBy })
        {
            let path = members.map(\.reference)
            // All get their outcome before any releases its dependents, lest a member is run by the end of another.
            var ends: [AnyOperation.EarlyEnd] = []
            var hasBroken = false
            for member in members where member.isUnrun {
                hasBroken = true
                if let end = member.endBeforeRun(with: .dependencyCycle(path)) { ends.append(end) }
            }
            for end in ends { end.settle() }
            if !hasBroken { return path }
        }
        if Claims.mayDeadlock { Deadlocks.break(through: origin) }
        return nil
    }

    /// A shortest circle: each member waits for the next, and the last for `origin`. Searched from both sides in turns until
    /// one side has seen everything, so that a long queue behind or before a new operation is not walked.
    static func circle(
        through origin: AnyOperation, waitsFor: @escaping (AnyOperation) -> [AnyOperation],
        isWaitedForBy: @escaping (AnyOperation) -> [AnyOperation]
    ) -> [AnyOperation]? {
        var back = Search(from: origin, neighbours: waitsFor)
        var ahead = Search(from: origin, neighbours: isWaitedForBy)
        while true {
            switch back.step() {
            case .closed(let path): return path
            case .exhausted: return nil
            case .goingOn: break
            }
            switch ahead.step() {
            case .closed(let path): return path.prefix(1) + path.dropFirst().reversed()
            case .exhausted: return nil
            case .goingOn: break
            }
        }
    }

    /// As above, from one side: for one that is not linked, so that nothing is known to be waited for by it.
    static func circle(
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
    fileprivate final var isUnrun: Bool { withLife { $0.phase == .added } }

    /// What must finish before this can go on. Dependencies of one that nobody has added may still change: not counted.
    final var waitsFor: [AnyOperation] {
        let (operations, groups, listeners) = withLife {
            life -> ([AnyOperation], [ChildGroup], [any OutcomeListener]) in
            switch life.phase {
            case .created, .finished: return ([], [], [])
            case .added: return (life.details?.endAfterLinking == nil ? edges.all : [], [], [])
            case .evaluating, .executing, .finishing:
                guard let details = life.details else { return ([], [], []) }
                return (details.awaited.map(\.operation), details.childGroups, details.listeners)
            }
        }
        return operations + groups.flatMap(\.waitsFor) + listeners.flatMap { $0.waitsFor }
    }

    /// What cannot go on before this has finished.
    final var isWaitedForBy: [AnyOperation] {
        let (dependents, waiters) = withLife { life in
            (life.dependents.retained(), life.details?.waiters ?? [])
        }
        return dependents + waiters.compactMap(\.waitingBody)
    }
}

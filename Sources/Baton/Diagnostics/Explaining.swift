extension AnyOperation {
    /// Why has this not finished? Follows what it waits for, through dependencies, bodies that await other operations and holders
    /// of exclusions, to what is at the root: something nobody added, a suspended or full queue, a delay, a body that runs.
    ///
    /// Takes as long as there are operations to follow, and in a full queue, and stops nothing meanwhile; so it is a snapshot.
    /// It asks the clock of the queue how long something takes, and errors for their description, on the calling thread.
    public final func explain() -> Explanation {
        let state = state
        var search = RootSearch()
        search.look(from: CollectionOfOne(self))
        return Explanation(
            operation: reference, state: state, waits: search.waitsOfFirst.map(\.told), roots: search.told(),
            error: hasFinished ? failure : nil)
    }
}

/// Follows operations to what keeps them. Each is looked at once, so circles and meeting ways do no harm.
struct RootSearch {
    private struct Found {
        let operation: AnyOperation
        /// Which one waits for it; -1 for those that the search began with.
        let from: Int
        let wait: Wait?
    }

    struct Root {
        let operation: AnyOperation
        let cause: Explanation.Cause
        fileprivate let place: Int
    }

    private var inspection: Inspection
    private var found: [Found] = []
    private var seen: Set<ObjectIdentifier> = []
    private(set) var waitsOfFirst: [Wait] = []
    private(set) var roots: [Root] = []

    init(_ inspection: Inspection = Inspection()) { self.inspection = inspection }

    mutating func look(from operations: some Collection<AnyOperation>) {
        for operation in operations where seen.insert(ObjectIdentifier(operation)).inserted {
            found.append(Found(operation: operation, from: -1, wait: nil))
            follow(found.count - 1)
        }
    }

    private mutating func follow(_ first: Int) {
        var frontier = [first]
        while let place = frontier.popLast() {
            let operation = found[place].operation
            let waits = inspection.waits(of: operation)
            if place == 0 { waitsOfFirst = waits }
            if let wait = waits.first, let exclusion = wait.exclusion {
                roots.append(
                    Root(
                        operation: operation,
                        cause: .excluded(by: wait.source.reference, exclusion: "\(exclusion)"), place: place))
            } else if waits.isEmpty {
                roots.append(Root(operation: operation, cause: inspection.cause(of: operation), place: place))
            }
            for wait in waits.reversed() where seen.insert(ObjectIdentifier(wait.source)).inserted {
                found.append(Found(operation: wait.source, from: place, wait: wait))
                frontier.append(found.count - 1)
            }
        }
    }

    /// The ways to the first few are told with them.
    func told() -> [Explanation.Root] {
        roots.enumerated().map { number, root in
            Explanation.Root(
                operation: root.operation.reference, cause: root.cause,
                links: number < Explanation.listed ? links(to: root.place) : [])
        }
    }

    /// What is no plain wait, in the order in which it is come across.
    private func links(to place: Int) -> [Explanation.Link] {
        var links: [Explanation.Link] = []
        var place = place
        while found[place].from >= 0, let wait = found[place].wait {
            let from = found[place].from
            switch wait.kind {
            case .input, .order, .child, .awaited, .element, .exclusion: break
            case .barrier, .original, .replaced:
                links.append(Explanation.Link(waiting: found[from].operation.reference, wait: wait.told))
            }
            place = from
        }
        return links.reversed()
    }
}

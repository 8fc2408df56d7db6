/// The answer to whether a new wait may have closed a cycle.
///
/// The search alternates between both ends of the wait and goes further each time, until one side has been seen whole.
/// A claim that nobody waits for is decided in one step, however many claims are before it, and so is a wait for an
/// operation that runs, however many operations wait behind it.
enum CycleSuspicion {
    case none
    case cycle
    /// The search has reached its limit.
    case unknown

    static func of(_ origin: AnyOperation, awaitedBy body: AnyOperation?) -> CycleSuspicion {
        var limit = 16
        while limit <= Deadlocks.searchLimit {
            var back = Search(from: origin, to: [ObjectIdentifier(body ?? origin)], limit)
            switch back.run({ $0.mayWaitFor(within: &$1) }) {
            case .none: return .none
            case .cycle: return .cycle
            case .unknown: break
            }
            var ahead = Search(from: body ?? origin, to: back.seen, limit)
            switch ahead.run({ $0.mayBeWaitedFor(within: &$1) }) {
            case .none: return .none
            case .cycle: return .cycle
            case .unknown: limit *= 4
            }
        }
        return .unknown
    }

    private struct Search {
        private var found: [AnyOperation]
        private(set) var seen: Set<ObjectIdentifier>
        private let ends: Set<ObjectIdentifier>
        private var extent: ExclusionTable.Extent

        init(from start: AnyOperation, to ends: Set<ObjectIdentifier>, _ limit: Int) {
            found = [start]
            seen = [ObjectIdentifier(start)]
            self.ends = ends
            extent = ExclusionTable.Extent(limit: limit)
        }

        mutating func run(_ neighbours: (AnyOperation, inout ExclusionTable.Extent) -> [AnyOperation]) -> CycleSuspicion
        {
            var next = 0
            while next < found.count, !extent.isTruncated {
                for neighbour in neighbours(found[next], &extent) {
                    if ends.contains(ObjectIdentifier(neighbour)) { return .cycle }
                    if seen.insert(ObjectIdentifier(neighbour)).inserted { found.append(neighbour) }
                }
                next += 1
            }
            return extent.isTruncated ? .unknown : .none
        }
    }
}

extension AnyOperation {
    fileprivate final func mayWaitFor(within extent: inout ExclusionTable.Extent) -> [AnyOperation] {
        let sources = waitsFor(first: extent.left + 1)
        if !extent.take(sources) || !hasClaim { return sources.operations }
        return sources.operations + ExclusionManager.possibleBlockers(of: self, within: &extent)
    }

    fileprivate final func mayBeWaitedFor(within extent: inout ExclusionTable.Extent) -> [AnyOperation] {
        let waiting = isWaitedForBy(first: extent.left + 1)
        if !extent.take(waiting) || !hasClaim { return waiting.operations }
        return waiting.operations + ExclusionManager.possiblyBlocked(by: self, within: &extent)
    }

    /// True if the operation holds exclusions or waits for some.
    private final var hasClaim: Bool { withLife { $0.optionalState?.preconditions.hasClaim ?? false } }
}

extension ExclusionTable.Extent {
    fileprivate mutating func take(_ neighbours: AnyOperation.Neighbours) -> Bool {
        take(neighbours.isWhole ? neighbours.operations.count : left + 1)
    }
}

import Baton
import Synchronization

/// The holders of each name, as far as the test can see them: never more than really hold it (G12).
final class Holdings: Sendable {
    /// The holder of names: an operation for its run, or one of its conditions for its evaluation.
    struct Key: Hashable {
        let owner: Int
        var condition = -1
    }

    private struct Entry {
        let key: Key
        let share: ExclusionNote.Share
    }

    private let graph: Graph
    private let kin: Kin?
    private let entries: Locked<[[Entry]]>

    init(_ graph: Graph) {
        self.graph = graph
        kin = graph.names.isEmpty ? nil : Kin(graph)
        entries = Locked(graph.names.map { _ in [] })
    }

    /// Records that the holder has acquired the names, and returns the faults.
    func begin(_ key: Key, _ notes: [ExclusionNote]) -> [String] {
        guard let kin, !notes.isEmpty else { return [] }
        var shares: [Int: ExclusionNote.Share] = [:]
        for note in notes { shares[note.name] = shares[note.name].map { $0.merged(with: note.share) } ?? note.share }
        return entries.withLock { entries in
            var faults: [String] = []
            for (name, share) in shares {
                let strangers = entries[name].filter { !kin.areRelated($0.key.owner, key.owner) }
                entries[name].append(Entry(key: key, share: share))
                for other in strangers where share == .exclusive || other.share == .exclusive {
                    faults.append(
                        "G12: \(key.owner) and \(other.key.owner) hold name \(name) at once, \(share) and "
                            + "\(other.share)"
                    )
                }
                if let limit = graph.names[name].limit {
                    let sum = share.weight + Self.sum(of: strangers, kin)
                    if sum > limit {
                        faults.append("G12: \(sum) of \(limit) of name \(name) are held, with \(key.owner)")
                    }
                }
            }
            return faults
        }
    }

    func end(_ key: Key) {
        if kin == nil { return }
        entries.withLock { entries in
            for name in entries.indices { entries[name].removeAll { $0.key == key } }
        }
    }

    /// Returns the sum of the permits of all entries that have no relative among them. The permits of a child are
    /// taken from those of its parent.
    private static func sum(of entries: [Entry], _ kin: Kin) -> Int {
        entries.indices.reduce(0) { sum, index in
            let isAlone = entries.indices.allSatisfy {
                $0 == index || !kin.areRelated(entries[$0].key.owner, entries[index].key.owner)
            }
            return isAlone ? sum + entries[index].share.weight : sum
        }
    }
}

extension ExclusionNote.Share {
    fileprivate var weight: Int { if case .permits(let weight) = self { weight } else { 0 } }
}

extension RunRecorder {
    func holdsNames(_ key: Holdings.Key, _ names: [ExclusionNote]) {
        for fault in holdings.begin(key, names) { violation(fault) }
    }
}

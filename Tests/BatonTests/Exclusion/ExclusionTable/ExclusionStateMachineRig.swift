@testable import Baton

/// A state machine whose owners are named by paths: `a/b` is a child of `a`.
final class ExclusionStateMachineRig {
    final class Owner {
        let path: String
        init(_ path: String) { self.path = path }
    }

    enum Event {
        case ask(String, [Exclusion])
        case release(String)
        case leaveQueues(String)

        static func ask(_ path: String, _ exclusions: Exclusion...) -> Event { .ask(path, exclusions) }
    }

    var machine = ExclusionStateMachine<Owner>()
    private var owners: [String: Owner] = [:]

    func owner(_ path: String) -> Owner {
        if let owner = owners[path] { return owner }
        let owner = Owner(path)
        owners[path] = owner
        return owner
    }

    private func ancestors(of path: String) -> [Owner] {
        var parts = path.split(separator: "/").dropLast()
        var ancestors: [Owner] = []
        while !parts.isEmpty {
            ancestors.append(owner(parts.joined(separator: "/")))
            parts = parts.dropLast()
        }
        return ancestors
    }

    /// Applies the event. Returns the owners whose claims are granted because of it.
    @discardableResult
    func happen(_ event: Event) -> String {
        switch event {
        case .ask(let path, let exclusions):
            let ancestors = ancestors(of: path)
            let answer = machine.request(owner(path), ExclusionSet(exclusions), inside: ancestors)
            return answer == .granted ? path : ""
        case .release(let path):
            return text(machine.release(owner(path)).granted)
        case .leaveQueues(let path):
            return text(machine.leaveQueues(owner(path)))
        }
    }

    init(after events: [Event] = []) {
        for event in events { happen(event) }
    }

    private func text(_ owners: [Owner]) -> String { owners.map(\.path).joined(separator: " ") }

    /// Returns the blockers in the order of their paths.
    func blockers(of path: String) -> String { sorted(machine.blockers(of: owner(path))) }

    func possibleBlockers(of path: String) -> String {
        var search = ExclusionTable.BlockerSearch(limit: .max)
        return sorted(machine.possibleBlockers(of: owner(path), within: &search))
    }

    func possiblyBlocked(by path: String) -> String {
        var search = ExclusionTable.BlockerSearch(limit: .max)
        return sorted(machine.possiblyBlocked(by: owner(path), within: &search))
    }

    private func sorted(_ owners: [Owner]) -> String { Set(owners.map(\.path)).sorted().joined(separator: " ") }

    func isQueuedBehindOthers(_ path: String) -> Bool { machine.isQueuedBehindOthers(owner(path)) }

    func obstacle(for path: String) -> String? {
        machine.obstacle(for: owner(path)).map { "\($0.name) \($0.holder.path)" }
    }

    func fits(_ path: String, beside others: String...) -> Bool {
        machine.fits(owner(path), beside: Set(others.map { ObjectIdentifier(owner($0)) }))
    }
}

extension Exclusion {
    static let all = mutuallyExclusive("n")
    static let shared = mutuallyExclusive("n", mode: .shared)
    static let otherAll = mutuallyExclusive("m")
    static let otherShared = mutuallyExclusive("m", mode: .shared)

    static func units(_ weight: Int, of limit: Int = 3) -> Exclusion { limited("n", to: limit, weight: weight) }
}

internal import Baton

/// The lookup of a name, which blocks its thread for as long as the system likes.
///
/// Nobody can end one: when nobody awaits it any more, it goes on, abandoned. While that is so, no other one of the
/// same host begins, because it would most likely hang, too: else each attempt would leave one more thread behind.
final class Lookup: Sendable {
    private struct Host {
        var underWay: Set<ObjectIdentifier> = []
        var abandoned: Set<ObjectIdentifier> = []
        var waiting: [ObjectIdentifier: @Sendable () -> Void] = [:]

        var isEmpty: Bool { underWay.isEmpty && abandoned.isEmpty && waiting.isEmpty }
    }

    private static let hosts = Locked<[String: Host]>([:])
    private let host: String

    init(of host: String) { self.host = host }

    private var id: ObjectIdentifier { ObjectIdentifier(self) }

    /// Calls `start` now, or on the thread of the last one that is abandoned, when that ends. Of a lookup that is left
    /// before, never. What is called holds the lookup.
    func begin(_ start: @escaping @Sendable () -> Void) {
        let isFree = change { host in
            if !host.abandoned.isEmpty {
                host.waiting[id] = start
                return false
            }
            host.underWay.insert(id)
            return true
        }
        if isFree { start() }
    }

    /// It has its answer, or could not be started.
    func end() {
        let next = change { host -> [ObjectIdentifier: @Sendable () -> Void] in
            host.underWay.remove(id)
            host.abandoned.remove(id)
            if !host.abandoned.isEmpty { return [:] }
            defer { host.waiting = [:] }
            host.underWay.formUnion(host.waiting.keys)
            return host.waiting
        }
        for start in next.values { start() }
    }

    /// Nobody awaits it any more.
    func leave() {
        let unstarted = change { host in
            if host.underWay.remove(id) != nil { host.abandoned.insert(id) }
            return host.waiting.removeValue(forKey: id)
        }
        withExtendedLifetime(unstarted) {}
    }

    private func change<Result>(_ step: (inout Host) -> Result) -> Result {
        Self.hosts.withLock { hosts in
            var host = hosts.removeValue(forKey: self.host) ?? Host()
            defer { if !host.isEmpty { hosts[self.host] = host } }
            return step(&host)
        }
    }
}

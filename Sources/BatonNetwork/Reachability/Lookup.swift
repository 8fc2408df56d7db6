internal import Baton

/// The lookup of a host name, which blocks its thread for as long as the system needs.
///
/// A lookup cannot be stopped: when no task awaits it any more, it is abandoned, and goes on. Until it ends, no other
/// lookup of the same host begins, because that one would most likely hang as well, and each attempt would leave one
/// more blocked thread behind.
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

    /// Calls `start` at once or, if lookups of the same host are abandoned, on the thread of the last of them when it
    /// ends.
    ///
    /// `start` is not called if this lookup is abandoned before. The closure must retain the lookup, whose identity is
    /// its key.
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

    /// Ends a lookup that has its result, or whose thread could not be started.
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

    /// Abandons the lookup, because no task awaits it any more.
    func abandon() {
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

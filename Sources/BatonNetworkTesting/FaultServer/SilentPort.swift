/// A port of loopback that is reserved for a test, and on which no connection is ever completed.
final class SilentPort {
    enum Behaviour {
        /// Every connection is refused at once, because the socket does not listen.
        case refuses
        /// A connection gets no answer, because it is never accepted and the backlog is full.
        case staysSilent
    }

    let number: Int
    private let descriptor: Int32
    private var clients: [Int32] = []

    init(_ behaviour: Behaviour) throws {
        (descriptor, number) = try Socket.bound(to: .ipv4)
        switch behaviour {
        case .refuses: break
        case .staysSilent:
            try Socket.listen(descriptor, backlog: 0)
            clients = (0..<8).compactMap { _ in Socket.connecting(to: number) }
        }
    }

    deinit {
        for client in clients { Socket.closeCompletely(client) }
        Socket.closeCompletely(descriptor)
    }
}

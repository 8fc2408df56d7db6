/// Calls a closure when it is released, together with its owner.
final class Release: Sendable {
    private let act: @Sendable () -> Void

    init(_ act: @escaping @Sendable () -> Void) { self.act = act }

    deinit { act() }
}

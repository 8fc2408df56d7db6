@testable import Baton

/// Counts its living tokens. A closure that captures a token keeps it alive.
final class Tokens: Sendable {
    private let count = Locked(0)

    var alive: Int { count.withLock { $0 } }

    func make() -> Token { Token(of: self) }

    fileprivate func change(by difference: Int) { count.withLock { $0 += difference } }
}

final class Token: Sendable {
    private let owner: Tokens

    fileprivate init(of owner: Tokens) {
        self.owner = owner
        owner.change(by: 1)
    }

    /// Does nothing. A closure that calls it captures the token.
    func touch() {}

    deinit { owner.change(by: -1) }
}

/// An error that carries a token.
struct TokenError: Error {
    let token: Token
}

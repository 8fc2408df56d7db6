@testable import Baton

/// Counts how many of its tokens are alive: what captures one keeps the count up.
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

    /// Use it, so that a closure captures it.
    func touch() {}

    deinit { owner.change(by: -1) }
}

/// An error that carries a token.
struct TokenError: Error {
    let token: Token
}

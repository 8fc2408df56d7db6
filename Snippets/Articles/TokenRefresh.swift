import Baton

struct Token: Sendable, Hashable {
    let number: Int
}

/// Hands out a token, and lets any number of callers share one refresh of it.
actor Tokens {
    private(set) var current = Token(number: 1)
    private let refreshes = AsyncOperationQueue(name: "refreshes")

    /// Returns a token to use instead of `stale`, which the server has refused.
    func token(insteadOf stale: Token) async throws(OperationError) -> Token {
        refreshes.add(refresh(of: stale))  // belongs to the queue, so no caller can cancel it
        return try await refreshes.run(refresh(of: stale))  // joins it, and ends at once if the caller is cancelled
    }

    private func refresh(of stale: Token) -> AsyncOperation<Token> {
        // The key counts in this queue alone: the tokens of other accounts have queues of their own.
        AsyncOperation("refresh") { try await self.newToken(insteadOf: stale) }
            .unique(by: stale, in: "refresh", policy: .join, within: .queue)
    }

    private func newToken(insteadOf stale: Token) async throws -> Token {
        if current != stale { return current }  // another caller has refreshed it meanwhile
        current = try await requestToken()
        return current
    }

    /// Stands for the request to the server.
    private func requestToken() async throws -> Token {
        print("requests a token")
        try await Task.sleep(for: .milliseconds(10))
        return Token(number: current.number + 1)
    }
}

let tokens = Tokens()
let stale = await tokens.current
async let first = tokens.token(insteadOf: stale)
async let second = tokens.token(insteadOf: stale)
print(try await first.number, try await second.number)  // 2 2, after one request
print(try await tokens.token(insteadOf: stale).number)  // 2, without a request

import Baton

struct Unauthorized: Error {}
struct ServiceBusy: Error {}

/// A service that requires a token for each request.
protocol Service: Sendable {
    func token() async throws -> String
    func find(_ text: String, token: String) async throws -> [String]
    func upload(_ file: String, token: String) async throws
}

/// Sends requests with a token. The token is requested once, however many requests find it missing or expired.
actor Session {
    private let service: any Service
    private var token: String?

    init(service: any Service) { self.service = service }

    func find(_ text: String, in context: OperationContext) async throws -> [String] {
        try await withToken(context) { [service] token in try await service.find(text, token: token) }
    }

    func upload(_ file: String, in context: OperationContext) async throws {
        try await withToken(context) { [service] token in try await service.upload(file, token: token) }
    }

    private func withToken<Answer: Sendable>(
        _ context: OperationContext, _ send: @Sendable (String) async throws -> Answer
    ) async throws -> Answer {
        let token = if let token { token } else { try await refreshed(insteadOf: nil, context) }
        do {
            return try await send(token)
        } catch is Unauthorized {
            return try await send(refreshed(insteadOf: token, context))
        }
    }

    private func refreshed(insteadOf old: String?, _ context: OperationContext) async throws -> String {
        try await context.run(
            AsyncOperation("token") { [self] in try await refresh(insteadOf: old) }
                .unique(by: ObjectIdentifier(self), in: "token", policy: .join))
    }

    private func refresh(insteadOf old: String?) async throws -> String {
        if let token, token != old { return token }  // another request has renewed it
        let new = try await service.token()
        token = new
        return new
    }
}

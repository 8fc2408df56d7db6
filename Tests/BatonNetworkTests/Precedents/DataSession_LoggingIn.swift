// After Atelier Clockwork, ‘Yet More Operations’, the story that it begins with
//
// The number of a statement begins the name of its test.
// swift-format-ignore-file: AlwaysUseLowerCamelCase

import Baton
import BatonNetwork
import BatonTesting
import Foundation
import Testing

/// “Assemble credentials from multiple sources across several servers in a particular [order] to successfully log in.”
private struct Credential: ResultParsing {
    var url: URL
    /// The name of the field in the response.
    let name: String
    var headers: [String: String] = [:]
    var method = "GET"
    var body: Data?

    struct Refused: Error {
        let status: Int
    }

    func parseResult(data: Data?, response: HTTPHead?, error: (any Error)?) throws -> String {
        if let error { throw error }
        guard response?.status == 200 else { throw Refused(status: response?.status ?? 0) }
        return try JSONDecoder().decode([String: String].self, from: data ?? Data())[name] ?? ""
    }
}

/// Three servers: the first issues a ticket, the second issues a key for the ticket, and the third requires both.
private struct Services: Sendable {
    let tickets: TestServer
    let keys: TestServer
    let doors: TestServer
    let user: String

    init(user: String) async {
        self.user = user
        tickets = await TestServer()
        keys = await TestServer()
        doors = await TestServer()
    }

    var ticket: Credential {
        Credential(url: tickets.url("/ticket", ["user": user, "key": "t"]), name: "ticket")
    }

    func key(_ ticket: String) -> Credential {
        Credential(url: keys.url("/key", ["user": user, "key": "k"]), name: "key", headers: ["X-Ticket": ticket])
    }

    func login(_ ticket: String, _ key: String) throws -> Credential {
        let body = try JSONEncoder().encode(["user": user, "ticket": ticket, "key": key])
        return Credential(url: doors.url("/login", ["key": "l"]), name: "session", method: "POST", body: body)
    }

    func logIn() -> (session: AsyncOperation<String>, parts: [AsyncOperation<String>]) {
        let ticket = AsyncOperation(DataSession(ticket))
        let key = AsyncOperation(ticket) { ticket, context in
            try await DataSession(self.key(ticket)).execute(in: context)
        }
        let session = AsyncOperation(ticket, key) { ticket, key, context in
            try await DataSession(self.login(ticket, key)).execute(in: context)
        }
        return (session, [ticket, key])
    }

    func stop() {
        for server in [tickets, keys, doors] { server.stop() }
    }
}

@Suite(.timeLimit(.minutes(10))) struct DataSession_LoggingIn {
    private let queue = AsyncOperationQueue()

    @Test func DataSession_6_credentialsFromSeveralServersInOrderToLogIn() async throws {
        let services = await Services(user: "ada")
        defer { services.stop() }
        let (session, _) = services.logIn()
        #expect(try await queue.run(session) == "ada is in")
        #expect(try await services.tickets.log("t").count == 1)
        #expect(try await services.keys.log("k").count == 1)
        #expect(try await services.doors.log("l").map(\.method) == ["POST"])
    }

    @Test func DataSession_6_withoutTheFirstNothingElseIsAskedFor() async throws {
        let services = await Services(user: "")
        defer { services.stop() }
        let (session, parts) = services.logIn()
        _ = try? await queue.run(session)
        guard case .dependencyFailed(let source, _, let cause)? = session.error else {
            Issue.record("\(session)")
            return
        }
        #expect(source == parts[0].reference)
        #expect((cause.underlyingError as? Credential.Refused)?.status == 400)
        #expect(try await services.keys.log("k").isEmpty)
        #expect(try await services.doors.log("l").isEmpty)
    }
}

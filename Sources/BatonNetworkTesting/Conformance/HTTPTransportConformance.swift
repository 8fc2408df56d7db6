public import BatonNetwork
internal import Foundation

/// The cases that every HTTP transport has to pass: the client's duties in RFC 9110 and RFC 9112, and the contract of
/// `HTTPTransport`.
///
/// ```swift
/// @Test(arguments: HTTPTransportConformance.cases)
/// func ourStackConforms(_ requirement: HTTPTransportConformance.Case) async {
///     #expect(await requirement.run(on: OurStack(), another: OurStack()) == nil)
/// }
/// ```
///
/// Each case starts a ``FaultServer`` of its own, and has a time limit. Some cases measure fractions of a second, or
/// the memory of the process, so run them one after another.
public enum HTTPTransportConformance {
    /// One requirement, with a method that tries it.
    public struct Case: Sendable, CustomStringConvertible {
        /// The name of the case, such as `chunked-trailers`. It starts with the topic.
        public let name: String
        /// The requirement, as a sentence.
        public let requirement: String
        /// The source of the requirement, such as `RFC 9112, 7.1.2`, or nil if it is the contract of `HTTPTransport`.
        public let reference: String?
        /// The time after which the case fails. Time during which Swift's pool runs no task does not count.
        public let timeLimit: Duration

        let body: @Sendable (Trial) async throws -> Void

        init(
            _ name: String, _ requirement: String, _ reference: String? = nil, limit: Duration = .seconds(20),
            _ body: @escaping @Sendable (Trial) async throws -> Void
        ) {
            self.name = name
            self.requirement = requirement
            self.reference = reference
            timeLimit = limit
            self.body = body
        }

        /// The name with the requirement.
        public var description: String { "\(name): \(requirement)" + (reference.map { " (\($0))" } ?? "") }

        /// Tries the case.
        ///
        /// When the time limit is reached, the task of the case is cancelled and left behind, and its server is
        /// stopped.
        ///
        /// - Parameters:
        ///   - transport: The transport to try.
        ///   - other: Another transport of the same kind that shares no state with the first one. Without it, cases
        ///     that need two transports skip their checks of the second one.
        /// - Returns: Nil if the transport passes the case, otherwise a description of the failure.
        public func run(on transport: any HTTPTransport, another other: (any HTTPTransport)? = nil) async -> String? {
            do {
                let server = try FaultServer()
                defer { server.stop() }
                let trial = Trial(server: server, transport: transport, other: other)
                let body = body
                try await within(timeLimit, "the case") { try await body(trial) }
                return nil
            } catch {
                return "\(error)"
            }
        }
    }

    /// A case that a transport did not pass.
    public struct Failure: Sendable, CustomStringConvertible {
        /// The case that failed.
        public let failedCase: Case
        /// A description of the failure.
        public let text: String

        /// The case, and the description of its failure.
        public var description: String { "\(failedCase)\n    \(text)" }
    }

    /// All cases, ordered by topic.
    public static let cases: [Case] =
        framingCases + headCases + statusCases + brokenAnswerCases + invalidAnswerCases + connectionCases + requestCases
        + uploadCases + streamCases + repetitionCases + bodyCases + cancellationCases + timeCases + cookieCases

    /// Tries the cases, one after another.
    ///
    /// - Parameters:
    ///   - transport: The transport to try.
    ///   - other: Another transport of the same kind that shares no state with the first one; see
    ///     ``Case/run(on:another:)``.
    ///   - names: The names of the cases to try, or nil to try all cases.
    /// - Returns: The cases that the transport did not pass.
    public static func run(
        on transport: any HTTPTransport, another other: (any HTTPTransport)? = nil, only names: Set<String>? = nil
    ) async -> [Failure] {
        var failures: [Failure] = []
        for requirement in cases where names?.contains(requirement.name) ?? true {
            if let text = await requirement.run(on: transport, another: other) {
                failures.append(Failure(failedCase: requirement, text: text))
            }
        }
        return failures
    }
}

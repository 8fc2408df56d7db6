public import BatonNetwork
internal import Foundation

/// Cases that every transport of HTTP has to pass: what RFC 9110 and RFC 9112 require of a client, and what
/// `HTTPTransport` promises.
///
/// ```swift
/// @Test(arguments: HTTPTransportConformance.cases)
/// func ourStackConforms(_ requirement: HTTPTransportConformance.Case) async {
///     #expect(await requirement.run(on: OurStack(), another: OurStack()) == nil)
/// }
/// ```
///
/// Each case starts a ``FaultServer`` of its own, and has a time limit. Some measure times of a fraction of a second,
/// or the memory of the process, so they should run one after another.
public enum HTTPTransportConformance {
    /// One requirement, with a function that tries it.
    public struct Case: Sendable, CustomStringConvertible {
        /// The name of the case, such as `chunked-trailers`: what it is about first.
        public let name: String
        /// What is required, in a sentence.
        public let requirement: String
        /// Where that is required, such as `RFC 9112, 7.1.2`; nil if it is the contract of `HTTPTransport` alone.
        public let reference: String?
        /// How long it may take: a case that takes longer has failed.
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
        /// When the time limit is over, the task of the case is cancelled and left behind, and its server is stopped.
        ///
        /// - Parameters:
        ///   - transport: The transport that is tried.
        ///   - other: Another transport of the same kind, with nothing in common with the first one. Without it, the
        ///     cases that need two do not try what concerns the second one.
        /// - Returns: Nil if it has passed; else what went wrong.
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

    /// A case that a transport has not passed.
    public struct Failure: Sendable, CustomStringConvertible {
        /// The case.
        public let failedCase: Case
        /// What went wrong.
        public let text: String

        /// The case, and what went wrong.
        public var description: String { "\(failedCase)\n    \(text)" }
    }

    /// All cases, those of one topic side by side.
    public static let cases: [Case] =
        framingCases + headCases + statusCases + brokenAnswerCases + nonsenseCases + connectionCases + requestCases
        + uploadCases + streamCases + repetitionCases + bodyCases + cancellationCases + timeCases + cookieCases

    /// Tries the cases, one after another.
    ///
    /// - Parameters:
    ///   - transport: The transport that is tried.
    ///   - other: Another transport of the same kind, with nothing in common with the first one; see
    ///     ``Case/run(on:another:)``.
    ///   - names: The names of the cases to be tried; nil tries all.
    /// - Returns: Those that it has not passed.
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

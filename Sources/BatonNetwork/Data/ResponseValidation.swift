internal import Baton
internal import Foundation

#if canImport(FoundationNetworking)
    internal import FoundationNetworking
#endif

/// The responses that a request accepts, by status and content type. They are checked before the body is read.
///
/// ```swift
/// HTTPData(url).validation(.status(200, 404).contentType("application/json"))
/// ```
public struct ResponseValidation: Sendable {
    private var statuses: [ClosedRange<Int>]
    private var types: [String] = []

    /// Accepts a status from 200 to 299, with any content type.
    public static let success = ResponseValidation(statuses: [200...299])

    /// Accepts any status and any content type.
    public static let none = ResponseValidation(statuses: [.min ... .max])

    /// Accepts a status within one of several ranges.
    ///
    /// - Parameters:
    ///   - range: A range of status codes.
    ///   - more: Further ranges.
    /// - Returns: The validation.
    public static func status(_ range: ClosedRange<Int>, _ more: ClosedRange<Int>...) -> ResponseValidation {
        ResponseValidation(statuses: [range] + more)
    }

    /// Accepts one of several status codes.
    ///
    /// - Parameters:
    ///   - code: A status code.
    ///   - more: Further status codes.
    /// - Returns: The validation.
    public static func status(_ code: Int, _ more: Int...) -> ResponseValidation {
        ResponseValidation(statuses: ([code] + more).map { $0...$0 })
    }

    /// Accepts a status from 200 to 299, with one of several content types.
    ///
    /// - Parameters:
    ///   - type: A content type: "application/json", or "text/*" for any subtype. Parameters are ignored.
    ///   - more: Further content types.
    /// - Returns: The validation.
    public static func contentType(_ type: String, _ more: String...) -> ResponseValidation {
        success.with([type] + more)
    }

    /// Accepts only the given content types, with the statuses that this validation accepts.
    ///
    /// - Parameters:
    ///   - type: A content type: "application/json", or "text/*" for any subtype. Parameters are ignored.
    ///   - more: Further content types.
    /// - Returns: A changed copy.
    public func contentType(_ type: String, _ more: String...) -> ResponseValidation { with([type] + more) }

    private func with(_ types: [String]) -> ResponseValidation {
        var copy = self
        copy.types = types.map { HTTPHead.mediaType(of: $0) ?? "" }
        return copy
    }

    /// Returns whether a head is accepted. A response without content, of status 204, 205 or 304, needs no content
    /// type.
    ///
    /// - Parameter head: The head of a response.
    /// - Returns: True if its status and its content type are accepted.
    public func accepts(_ head: HTTPHead) -> Bool { accepts(status: head.status) && acceptsType(of: head) }

    private func acceptsType(of head: HTTPHead) -> Bool {
        [204, 205, 304].contains(head.status) || accepts(type: head.contentType)
    }

    private func accepts(status: Int) -> Bool { statuses.contains { $0.contains(status) } }

    private func accepts(type: String?) -> Bool {
        if types.isEmpty { return true }
        guard let type else { return false }
        return types.contains { expected in
            expected == type || expected == "*/*" || expected.hasSuffix("/*") && type.hasPrefix(expected.dropLast(1))
        }
    }
}

extension ResponseValidation {
    private static let excerptLength = 1024

    /// Throws if the response is not accepted. The error for a status contains the beginning of the body.
    func check(_ answer: HTTPAnswer, of request: URLRequest) async throws {
        let head = answer.head
        if !accepts(status: head.status) {
            throw HTTPError(.refused(await Self.refusal(answer)), request, after: head)
        }
        if !acceptsType(of: head) {
            throw HTTPError(.unexpectedContentType(head.contentType, expected: types), request, after: head)
        }
    }

    /// Reads the beginning of a refused body. Errors and delays of that body are ignored, because the status says more.
    /// A cancellation ends the wait.
    static func refusal(_ answer: HTTPAnswer) async -> HTTPError.Refusal {
        let excerpt = await answer.body.beginning(upTo: excerptLength)
        return HTTPError.Refusal(
            status: answer.head.status, excerpt: String(decoding: excerpt, as: UTF8.self),
            retryAfter: RetryAfter.delay(answer.head, now: Date()), location: answer.head.locationWithoutSecrets)
    }
}

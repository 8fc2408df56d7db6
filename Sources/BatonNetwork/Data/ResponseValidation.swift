internal import Baton
internal import Foundation

#if canImport(FoundationNetworking)
    internal import FoundationNetworking
#endif

/// Which answers are good ones, by status and content type. It is looked at before the body is read.
///
/// ```swift
/// HTTPData(url).validation(.status(200, 404).contentType("application/json"))
/// ```
public struct ResponseValidation: Sendable {
    private var statuses: [ClosedRange<Int>]
    private var types: [String] = []

    /// A status from 200 to 299, and any content type.
    public static let success = ResponseValidation(statuses: [200...299])

    /// Any status and any content type.
    public static let none = ResponseValidation(statuses: [.min ... .max])

    /// A status of one of these ranges.
    public static func status(_ range: ClosedRange<Int>, _ more: ClosedRange<Int>...) -> ResponseValidation {
        ResponseValidation(statuses: [range] + more)
    }

    /// One of these statuses.
    public static func status(_ code: Int, _ more: Int...) -> ResponseValidation {
        ResponseValidation(statuses: ([code] + more).map { $0...$0 })
    }

    /// A status from 200 to 299, and one of these content types.
    public static func contentType(_ type: String, _ more: String...) -> ResponseValidation {
        success.with([type] + more)
    }

    /// And one of these content types: "application/json", or "text/*" for any of its kind. Parameters do not count.
    public func contentType(_ type: String, _ more: String...) -> ResponseValidation { with([type] + more) }

    private func with(_ types: [String]) -> ResponseValidation {
        var copy = self
        copy.types = types.map { HTTPHead.type($0) ?? "" }
        return copy
    }

    /// Whether a head is a good one. What has no content, as 204, 205 and 304 say, needs no type.
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

    /// Throws if this is no good answer, with the beginning of its body.
    func check(_ answer: HTTPAnswer, of request: URLRequest) async throws {
        let head = answer.head
        if !accepts(status: head.status) {
            throw HTTPError(.refused(await Self.refusal(answer)), request, after: head)
        }
        if !acceptsType(of: head) {
            throw HTTPError(.unexpectedContentType(head.contentType, expected: types), request, after: head)
        }
    }

    /// A status says more than a body that ends too early, or takes its time. A cancel ends the wait for it.
    static func refusal(_ answer: HTTPAnswer) async -> HTTPError.Refusal {
        let excerpt = await answer.body.beginning(upTo: excerptLength)
        return HTTPError.Refusal(
            status: answer.head.status, excerpt: String(decoding: excerpt, as: UTF8.self),
            retryAfter: RetryAfter.delay(answer.head, now: Date()), location: answer.head.locationWithoutSecrets)
    }
}

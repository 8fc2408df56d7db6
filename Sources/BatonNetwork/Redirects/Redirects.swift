internal import Baton
internal import Foundation

#if canImport(FoundationNetworking)
    internal import FoundationNetworking
#endif

/// The redirects that a request follows.
///
/// ```swift
/// HTTPData(url).redirects(.none).validation(.status(302))
/// ```
///
/// A redirect is followed if its `Location` is a URL with the scheme http or https. The method of the next request
/// follows RFC 9110, 15.4: after a 303, and after a 301 or 302 response to a POST, it is a GET without a body (a HEAD
/// stays a HEAD); after any other redirect, the method and the body are sent again. A request to another origin is sent
/// without `Authorization`, `Proxy-Authorization`, `Cookie` and `Host`.
///
/// Any other redirect is returned as the response. So is a redirect that would need the request's `httpBodyStream` a
/// second time.
public struct RedirectPolicy: Sendable, Hashable {
    /// The largest number of redirects that a request follows in sequence.
    public let limit: Int
    /// A Boolean value that indicates whether a redirect from https to http is followed. Third parties can read and
    /// change the request that follows it.
    public let allowsInsecure: Bool

    /// Follows up to 16 redirects, and none from https to http.
    public static let follow = RedirectPolicy(limit: 16, allowsInsecure: false)

    /// Follows no redirects: a redirect is returned as the response.
    public static let none = RedirectPolicy(limit: 0, allowsInsecure: false)

    /// Follows up to `limit` redirects. One more fails with ``HTTPError/Reason/tooManyRedirects``.
    ///
    /// - Parameters:
    ///   - limit: The largest number of redirects. With 0 or a negative number, each redirect is returned as the
    ///     response.
    ///   - allowsInsecure: Whether a redirect from https to http is followed. If false, the request fails with
    ///     ``HTTPError/Reason/insecureRedirect(to:)``.
    /// - Returns: The policy.
    public static func follow(atMost limit: Int, allowsInsecure: Bool = false) -> RedirectPolicy {
        RedirectPolicy(limit: max(0, limit), allowsInsecure: allowsInsecure)
    }
}

// MARK: - Following redirects

extension HTTPOptions {
    /// Sends the request, and follows its redirects.
    ///
    /// - Parameter target: Set to the target of each redirect that is followed. It stays nil if none is followed.
    func send(
        _ body: HTTPRequestBody?, redirectedTo target: inout URL?, sent: @escaping @Sendable (Int64) -> Void
    ) async throws -> HTTPAnswer {
        var (request, body) = (request, body)
        var count = 0
        while true {
            let answer = try await transport.send(request, body: body, sent: sent)
            guard redirects.limit > 0, let next = request.redirected(by: answer.head, hasBody: body != nil) else {
                return answer
            }
            if count == redirects.limit { throw HTTPError(.tooManyRedirects, self.request, after: answer.head) }
            if !redirects.allowsInsecure, request.isSecure, !next.isSecure {
                throw HTTPError(
                    .insecureRedirect(to: next.url?.withoutSecrets ?? ""), self.request, after: answer.head)
            }
            if body?.stream != nil || answer.head.contentLength ?? 0 <= HTTPBody.maxDrainedCount {
                _ = await answer.body.beginning(upTo: 0)
            }
            // The previous pass of a stream has to end before the next one begins. The response may have more bytes
            // than are worth reading while the transport still sends the stream.
            if body?.stream != nil { await answer.body.cancel() }
            count += 1
            if !next.mayHaveBody { body = nil }
            request = next
            target = next.url
        }
    }
}

extension URLRequest {
    /// Returns the request that follows a redirect. Returns nil if the response is not a redirect that can be followed.
    fileprivate func redirected(by head: HTTPHead, hasBody: Bool) -> URLRequest? {
        guard let method = method(after: head.status), let target = head.target(from: url) else { return nil }
        var next = self
        if method != httpMethod ?? "GET" {
            next.httpMethod = method
            next.httpBody = nil
            next.httpBodyStream = nil
            next.removeContentFields()
        } else if !hasBody, httpBodyStream != nil {
            // A stream can be read only once.
            return nil
        }
        if target.origin == url?.origin {
            next.url = target.withUser(of: url)
        } else {
            next.url = target
            next.removeSecrets()
        }
        return next
    }

    /// Returns the method of the next request (RFC 9110, 15.4), or nil if the status is not a redirect that can be
    /// followed.
    private func method(after status: Int) -> String? {
        let method = httpMethod ?? "GET"
        let isRead = ["GET", "HEAD"].contains(method.uppercased())
        return switch status {
        case 301, 302: method.uppercased() == "POST" ? "GET" : method
        case 303: isRead ? method : "GET"
        case 307, 308: method
        default: nil
        }
    }

    fileprivate var mayHaveBody: Bool { !["GET", "HEAD"].contains(httpMethod?.uppercased() ?? "GET") }

    fileprivate var isSecure: Bool { url?.scheme?.lowercased() == "https" }

    /// Removes the header fields that another origin must not see.
    private mutating func removeSecrets() {
        for name in ["Authorization", "Proxy-Authorization", "Cookie", "Host"] {
            setValue(nil, forHTTPHeaderField: name)
        }
    }

    /// Removes the header fields that describe the body, because the next request has none (RFC 9110, 15.4).
    private mutating func removeContentFields() {
        for name in (allHTTPHeaderFields ?? [:]).keys where name.lowercased().hasPrefix("content-") {
            setValue(nil, forHTTPHeaderField: name)
        }
        for name in ["Digest", "Expect", "Transfer-Encoding", "Trailer"] { setValue(nil, forHTTPHeaderField: name) }
    }
}

extension URL {
    /// This URL without the segments `.` and `..` of its path. Foundation removes them only if it resolves the path
    /// against that of another URL, and RFC 3986, 5.2.2, always.
    fileprivate var withoutDotSegments: URL {
        guard var parts = URLComponents(url: self, resolvingAgainstBaseURL: true) else { return self }
        let path = parts.percentEncodedPath
        let resolved = path.withoutDotSegments
        if resolved == path { return self }
        parts.percentEncodedPath = resolved
        return parts.url ?? self
    }

    /// A Boolean value that indicates whether the port has so many digits that Foundation ignores it.
    fileprivate var hasUnreadablePort: Bool {
        port == nil && URLComponents(url: self, resolvingAgainstBaseURL: true)?.rangeOfPort?.isEmpty == false
    }

    /// Returns this URL with the fragment of another one, unless it has its own (RFC 9110, 10.2.2).
    fileprivate func withFragment(of other: URL?) -> URL {
        guard fragment == nil, let other = other.flatMap({ URLComponents(url: $0, resolvingAgainstBaseURL: true) }),
            other.percentEncodedFragment != nil, var parts = URLComponents(url: self, resolvingAgainstBaseURL: true)
        else { return self }
        parts.percentEncodedFragment = other.percentEncodedFragment
        return parts.url ?? self
    }

    /// Returns this URL with the user and the password of another one, unless it has its own.
    fileprivate func withUser(of other: URL?) -> URL {
        guard user == nil, let other = other.flatMap({ URLComponents(url: $0, resolvingAgainstBaseURL: true) }),
            other.percentEncodedUser != nil, var parts = URLComponents(url: self, resolvingAgainstBaseURL: true)
        else { return self }
        parts.percentEncodedUser = other.percentEncodedUser
        parts.percentEncodedPassword = other.percentEncodedPassword
        return parts.url ?? self
    }
}

extension String {
    /// An absolute path without the segments `.` and `..` (RFC 3986, 5.2.4).
    fileprivate var withoutDotSegments: String {
        let segments = split(separator: "/", omittingEmptySubsequences: false)
        var kept: [Substring] = []
        for (index, segment) in segments.enumerated() {
            let isDots = segment == "." || segment == ".."
            if !isDots {
                kept.append(segment)
                continue
            }
            // The first segment is the empty one before the root.
            if segment == "..", kept.count > 1 { kept.removeLast() }
            if index == segments.count - 1 { kept.append("") }
        }
        return kept.joined(separator: "/")
    }
}

extension HTTPHead {
    /// The target of a redirect without its secrets, for messages. Nil if the response is not a redirect.
    var locationWithoutSecrets: String? {
        guard 300...399 ~= status, status != 304, let location = headers.values(of: "Location").first?.trimmed else {
            return nil
        }
        return (URL(address: location).map(\.withoutSecrets) ?? location.withoutSecretsOfAddress).singleLine
    }

    /// Returns the target of a redirect (RFC 3986, 5.3), or nil if that is not an http or https URL.
    fileprivate func target(from request: URL?) -> URL? {
        guard let location = headers.values(of: "Location").first?.trimmed, !location.isEmpty,
            let target = URL(address: location, relativeTo: request), target.isHTTP, !target.hasUnreadablePort
        else { return nil }
        return target.withoutDotSegments.withFragment(of: request)
    }
}

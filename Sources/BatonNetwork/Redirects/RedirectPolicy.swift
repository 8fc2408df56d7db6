/// Which redirects a request follows.
///
/// ```swift
/// HTTPData(url).redirects(.none).validation(.status(302))
/// ```
///
/// A redirect is followed if its `Location` is an address of http or https. The method of the next request is that of
/// RFC 9110, 15.4: after 303, and after a POST that is answered by 301 or 302, it is a GET without a body (a HEAD stays
/// one); otherwise method and body are sent once more. A request to another origin goes without `Authorization`,
/// `Proxy-Authorization`, `Cookie` and `Host`. Any other redirect is the answer, as is one after a request whose
/// `httpBodyStream` has been read.
public struct RedirectPolicy: Sendable, Hashable {
    /// How many redirects one request may follow, one after the other.
    public let limit: Int
    /// Whether a redirect may lead from https to http, which everybody on the way can read and change.
    public let allowsInsecure: Bool

    /// Follows 16 redirects, and none from https to http.
    public static let follow = RedirectPolicy(limit: 16, allowsInsecure: false)

    /// Follows no redirect: it is the answer.
    public static let none = RedirectPolicy(limit: 0, allowsInsecure: false)

    /// Follows at most `limit` redirects; one more is ``HTTPError/Reason/tooManyRedirects``. None: each redirect is the
    /// answer.
    ///
    /// - Parameters:
    ///   - limit: How many; a negative number counts as 0.
    ///   - allowsInsecure: Whether one may lead from https to http. Otherwise it is
    ///     ``HTTPError/Reason/insecureRedirect(to:)``.
    public static func follow(atMost limit: Int, allowsInsecure: Bool = false) -> RedirectPolicy {
        RedirectPolicy(limit: max(0, limit), allowsInsecure: allowsInsecure)
    }
}

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

internal import Foundation

#if canImport(FoundationNetworking)
    internal import FoundationNetworking
#endif

extension URLRequest {
    /// The request that URLSession is to send after a redirect. Nil: none; the answer is that of the redirect.
    ///
    /// On Linux, URLSession would send an empty body where a redirect wants the same one again: see ``repeated(after:)``.
    func redirected(_ status: Int, from origin: URL?) -> URLRequest? {
        if url?.isHTTP != true || Self.keepsMethod(status) && mayHaveBody { return nil }
        return leaving(origin)
    }

    /// This request once more, with its body, for the place that a redirect names. Nil: this is no such redirect.
    func repeated(after head: HTTPHead) -> URLRequest? {
        guard Self.keepsMethod(head.status), mayHaveBody, let location = head.headers["Location"],
            let target = URL(string: location, relativeTo: head.url ?? url)?.absoluteURL, target.isHTTP
        else { return nil }
        var request = self
        request.url = target
        return request.leaving(url)
    }

    private static func keepsMethod(_ status: Int) -> Bool { status == 307 || status == 308 }

    private var mayHaveBody: Bool { !["GET", "HEAD"].contains(httpMethod?.uppercased() ?? "GET") }

    /// Without what another origin is not to see.
    private func leaving(_ origin: URL?) -> URLRequest {
        if url?.origin == origin?.origin { return self }
        var request = self
        for name in ["Authorization", "Proxy-Authorization", "Cookie"] {
            request.setValue(nil, forHTTPHeaderField: name)
        }
        return request
    }
}

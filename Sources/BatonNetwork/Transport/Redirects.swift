internal import Foundation

#if canImport(FoundationNetworking)
    internal import FoundationNetworking
#endif

extension URLRequest {
    /// The request that URLSession is to send after a redirect. Nil: none; the answer is that of the redirect.
    ///
    /// On Linux, URLSession would send an empty body where a redirect wants the same one again: see ``repeated(after:)``.
    func redirected(from origin: URL?, of original: URLRequest?) -> URLRequest? {
        if url?.isHTTP != true || mayHaveBody { return nil }
        var request = leaving(origin)
        // On Linux, URLSession makes a GET of it after 303, and the answer would have the body that nobody asked for.
        if original?.httpMethod?.uppercased() == "HEAD" { request.httpMethod = "HEAD" }
        return request
    }

    /// This request once more, with its body, for the place that a redirect names. Nil: this is no such redirect.
    func repeated(after head: HTTPHead) -> URLRequest? {
        guard mayHaveBody, isKept(by: head.status), let location = head.headers["Location"],
            let target = URL(string: location, relativeTo: head.url ?? url)?.absoluteURL, target.isHTTP
        else { return nil }
        var request = self
        request.url = target
        return request.leaving(url)
    }

    /// Of a POST, and of nothing else, 301 and 302 make a GET, as 303 does of all: RFC 9110, 15.4.
    private func isKept(by status: Int) -> Bool {
        switch status {
        case 301, 302: httpMethod != "POST"
        case 307, 308: true
        default: false
        }
    }

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

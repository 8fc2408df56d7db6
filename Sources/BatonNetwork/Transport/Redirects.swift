internal import Foundation

#if canImport(FoundationNetworking)
    internal import FoundationNetworking
#endif

extension URLRequest {
    /// The request that URLSession is to send after a redirect. Nil: none; the answer is that of the redirect.
    ///
    /// On Linux, URLSession would send an empty body where a redirect wants the same one again: see ``repeated(after:)``. Nor does it
    /// know where a relative one leads, and asks our host for the addresses of other schemes.
    func redirected(after head: HTTPHead, of original: URLRequest?) -> URLRequest? {
        guard !mayHaveBody, let target = head.target(from: url) else { return nil }
        var request = self
        request.url = target
        request = request.leaving(head.url)
        if original?.mayHaveBody == true { request.removeContentFields() }
        // On Linux, URLSession makes a GET of it after 303, and the answer would have the body that nobody asked for.
        if original?.httpMethod?.uppercased() == "HEAD" { request.httpMethod = "HEAD" }
        return request
    }

    /// This request once more, with its body, for the place that a redirect names. Nil: this is no such redirect.
    func repeated(after head: HTTPHead) -> URLRequest? {
        guard mayHaveBody, isKept(by: head.status), let target = head.target(from: url) else { return nil }
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
        for name in ["Authorization", "Proxy-Authorization", "Cookie", "Host"] {
            request.setValue(nil, forHTTPHeaderField: name)
        }
        return request
    }

    /// They speak of a body that is not sent any more: RFC 9110, 15.4.
    private mutating func removeContentFields() {
        for name in (allHTTPHeaderFields ?? [:]).keys where name.lowercased().hasPrefix("content-") {
            setValue(nil, forHTTPHeaderField: name)
        }
        setValue(nil, forHTTPHeaderField: "Digest")
    }
}

extension HTTPHead {
    /// Where a redirect leads: RFC 3986, 5.3. Nil: nowhere that could be asked by HTTP.
    fileprivate func target(from request: URL?) -> URL? {
        guard let location = headers["Location"]?.trimmed, !location.isEmpty,
            let target = URL(string: location, relativeTo: url ?? request)?.absoluteURL, target.isHTTP
        else { return nil }
        return target
    }
}

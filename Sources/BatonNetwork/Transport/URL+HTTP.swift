internal import Foundation

extension URL {
    /// True if a request can be sent to the URL: it has the scheme `http` or `https`, a host, and a port from 1 to
    /// 65,535 if any.
    var isHTTP: Bool {
        ["http", "https"].contains(scheme?.lowercased()) && host?.isEmpty == false && 1...65535 ~= port ?? 80
    }

    /// The URL with its scheme in lower case. Schemes are case-insensitive.
    var withLowercaseScheme: URL {
        guard let scheme, scheme != scheme.lowercased(),
            var parts = URLComponents(url: self, resolvingAgainstBaseURL: true)
        else { return self }
        parts.scheme = scheme.lowercased()
        return parts.url ?? self
    }

    /// The scheme, the host and the port. Credentials for a URL may also be sent to URLs with the same origin.
    var origin: String {
        let scheme = scheme?.lowercased() ?? ""
        return "\(scheme)://\(host?.lowercased() ?? ""):\(port ?? (scheme == "https" ? 443 : 80))"
    }

    var withoutSecrets: String {
        guard var parts = URLComponents(url: self, resolvingAgainstBaseURL: true) else { return scheme ?? "" }
        parts.user = nil
        parts.password = nil
        parts.query = nil
        parts.fragment = nil
        return parts.string ?? ""
    }
}

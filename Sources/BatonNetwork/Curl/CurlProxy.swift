#if os(Linux)
    internal import Foundation

    /// Which proxy libcurl uses for a request. Its versions before 8.7 do not tell, so this follows its rules.
    enum CurlProxy {
        /// Scheme, host and port of the proxy; empty if there is none. What else is in its text may be a password that
        /// was not escaped.
        static func address(for url: URL?, _ proxy: CurlTransport.Configuration.Proxy) -> String {
            let address =
                switch proxy {
                case .none: nil as String?
                case .address(let address): address
                case .environment: ofEnvironment(for: url)
                }
            guard let address, !address.isEmpty else { return "" }
            guard let url = URL(string: address.contains("://") ? address : "http://" + address), let host = url.host,
                !host.isEmpty
            else { return "‘…’, whose address cannot be read" }
            let name = host.contains(":") && !host.hasPrefix("[") ? "[\(host)]" : host
            return "\(url.scheme ?? "http")://\(name)\(url.port.map { ":\($0)" } ?? "")"
        }

        /// `HTTP_PROXY` does not count: a server that runs this as CGI would have it from a request.
        private static func ofEnvironment(for url: URL?) -> String? {
            let names = url?.scheme?.lowercased() == "https" ? ["https_proxy", "HTTPS_PROXY"] : ["http_proxy"]
            guard let address = variable(names + ["all_proxy", "ALL_PROXY"]) else { return nil }
            guard let host = url?.host, let exceptions = variable(["no_proxy", "NO_PROXY"]) else { return address }
            return isException(host, exceptions) ? nil : address
        }

        private static func variable(_ names: [String]) -> String? {
            for name in names {
                if let value = getenv(name), value.pointee != 0 { return String(cString: value) }
            }
            return nil
        }

        /// Whether a list of hosts, domains and networks, as in `no_proxy`, has this host in it.
        static func isException(_ host: String, _ list: String) -> Bool {
            if list == "*" { return true }
            let host = host.plainHost
            let entries = list.split { $0 == "," || $0 == " " || $0 == "\t" }.map { String($0) }
            guard let address = IPAddress(host) else {
                return entries.contains { entry in
                    let domain = String(entry.plainHost.drop { $0 == "." })
                    return !domain.isEmpty && (host == domain || host.hasSuffix("." + domain))
                }
            }
            return entries.contains { address.isIn(network: $0.plainHost) }
        }
    }

    extension String {
        /// In lower case, without brackets around an address, and without the dot that may end a name.
        fileprivate var plainHost: String {
            let name = lowercased().filter { $0 != "[" && $0 != "]" }
            return name.hasSuffix(".") ? String(name.dropLast()) : name
        }
    }

    /// The bytes of an IPv4 or IPv6 address.
    private struct IPAddress {
        private let bytes: [UInt8]

        init?(_ text: String) {
            for (family, count) in [(AF_INET, 4), (AF_INET6, 16)] {
                var bytes = [UInt8](repeating: 0, count: count)
                if inet_pton(family, text, &bytes) == 1 {
                    self.bytes = bytes
                    return
                }
            }
            return nil
        }

        /// `192.0.2.0/24`, or an address alone.
        func isIn(network text: String) -> Bool {
            let parts = text.parts(separatedBy: "/")
            guard let network = IPAddress(parts[0]), network.bytes.count == bytes.count, parts.count <= 2 else {
                return false
            }
            let length = parts.count == 2 ? Int(parts[1]) : bytes.count * 8
            guard let length, 0...bytes.count * 8 ~= length else { return false }
            return (0..<length).allSatisfy { bit in
                let mask = UInt8(0x80) >> UInt8(bit % 8)
                return bytes[bit / 8] & mask == network.bytes[bit / 8] & mask
            }
        }
    }
#endif

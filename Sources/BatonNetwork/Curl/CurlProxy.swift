#if os(Linux)
    internal import Foundation

    /// Finds the proxy that libcurl uses for a request. Versions of libcurl before 8.7 do not report it, so this type
    /// follows libcurl's rules.
    enum CurlProxy {
        /// Returns the scheme, the host and the port of the proxy, or an empty text if there is none. Everything else
        /// in the proxy's URL is left out, because it may be an unescaped password.
        static func address(for url: URL?, _ proxy: CurlTransport.Configuration.Proxy) -> String {
            let address = wholeAddress(for: url, proxy)
            if address.isEmpty { return "" }
            guard let url = URL(string: address.contains("://") ? address : "http://" + address), let host = url.host,
                !host.isEmpty
            else { return "‘…’, whose address cannot be read" }
            let name = host.contains(":") && !host.hasPrefix("[") ? "[\(host)]" : host
            return "\(url.scheme ?? "http")://\(name)\(url.port.map { ":\($0)" } ?? "")"
        }

        /// Returns the address of the proxy as it was given, with its password, or an empty text if there is none.
        static func wholeAddress(for url: URL?, _ proxy: CurlTransport.Configuration.Proxy) -> String {
            switch proxy {
            case .none: ""
            case .address(let address): address
            case .environment: ofEnvironment(for: url) ?? ""
            }
        }

        /// Returns the proxy that the environment names. `HTTP_PROXY` is ignored: in a CGI program, its value comes
        /// from a header field of the request.
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

        /// Returns whether a list of hosts, domains and networks, in the format of `no_proxy`, contains a host.
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
        /// The name in lower case, without brackets around an address and without a final dot.
        fileprivate var plainHost: String {
            let name = lowercased().filter { $0 != "[" && $0 != "]" }
            return name.hasSuffix(".") ? String(name.dropLast()) : name
        }
    }

    /// The bytes of an IPv4 or IPv6 address.
    struct IPAddress {
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

        /// Returns whether the address belongs to a network, such as `192.0.2.0/24`, or is the given address.
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

#if os(Linux)
    internal import Baton
    internal import CBatonCurl
    internal import Foundation
    internal import FoundationNetworking

    /// Tells libcurl of the request and of the transport's configuration before the transfer starts.
    extension CurlExchange {
        func setUp() {
            let request = transfer.request
            handle.setErrorBuffer(errorText.baseAddress!)
            handle.set(CURLOPT_NOSIGNAL, true)
            // A transfer that ends while its host is resolved would wait for the thread that does it.
            handle.set(CURLOPT_QUICK_EXIT, true)
            // For each request libcurl 7.88 looks at all hosts that it remembers.
            handle.set(CURLOPT_DNS_CACHE_TIMEOUT, 5)
            if connections.lacksDescriptors { handle.set(CURLOPT_MAXAGE_CONN, 1) }
            if configuration.idleConnections < 1 { handle.set(CURLOPT_FORBID_REUSE, true) }
            handle.set(CURLOPT_PROTOCOLS_STR, "http,https")
            handle.set(CURLOPT_FOLLOWLOCATION, false)
            handle.set(CURLOPT_PATH_AS_IS, true)
            handle.set(CURLOPT_URL, request.url?.absoluteString)
            handle.set(CURLOPT_HTTPHEADER, header)
            handle.set(CURLOPT_PROXYHEADER, proxyHeader)
            handle.set(CURLOPT_ACCEPT_ENCODING, "")
            handle.set(CURLOPT_SUPPRESS_CONNECT_HEADERS, true)
            handle.set(CURLOPT_TCP_KEEPALIVE, true)
            setMethod(of: request)
            setConnection(of: request)
            setCertificates()
            if request.value(forHTTPHeaderField: "User-Agent") == nil {
                handle.set(CURLOPT_USERAGENT, configuration.userAgent)
            }
            let ownCookies = request.value(forHTTPHeaderField: "Cookie")
            if request.httpShouldHandleCookies {
                cookies.serve(handle, headLength: headLengthBeforeCookies, hasOwn: ownCookies != nil)
            }
            if let ownCookies { handle.set(CURLOPT_COOKIE, ownCookies) }
        }

        /// At most: libcurl writes some of the fields before the cookies, and adds a few of its own.
        private var headLengthBeforeCookies: Int {
            let request = transfer.request
            let url = request.url
            let fields = ["Host", "User-Agent", "Accept", "Accept-Encoding", "Referer", "Range", "TE"]
            let secrets = (url?.user ?? "").utf8.count + (url?.password ?? "").utf8.count
            let values = fields.compactMap { request.value(forHTTPHeaderField: $0)?.utf8.count }
            return 1024 + (url?.absoluteString.utf8.count ?? 0) + 2 * secrets + values.reduce(0, +)
                + (configuration.userAgent?.utf8.count ?? 0)
        }

        private func setMethod(of request: URLRequest) {
            let method = request.httpMethod ?? "GET"
            if let source {
                handle.set(CURLOPT_UPLOAD, true)
                handle.setUploadLength(source.length)
                handle.set(CURLOPT_NOPROGRESS, false)
                handle.set(CURLOPT_UPLOAD_BUFFERSIZE, 64 * 1024)
            } else if method.uppercased() == "HEAD" {
                handle.set(CURLOPT_NOBODY, true)
                return
            } else {
                handle.set(CURLOPT_HTTPGET, true)
            }
            handle.set(CURLOPT_CUSTOMREQUEST, method)
        }

        /// At the end of an upload that a server has refused, or whose length was not known, libcurl 7.88 mixes up what
        /// others receive on the same connection.
        private var mayShareConnection: Bool {
            guard let source else { return true }
            guard let length = source.length else { return false }
            return length == 0 || configuration.uploadsShareConnections
        }

        private func setConnection(of request: URLRequest) {
            let mayMultiplex = configuration.version == .automatic && mayShareConnection
            handle.set(CURLOPT_HTTP_VERSION, Int(mayMultiplex ? CURL_HTTP_VERSION_2TLS : CURL_HTTP_VERSION_1_1))
            // The first connection tells whether the others are needed.
            waitsForOthers = isSecure && mayMultiplex
            handle.set(CURLOPT_PIPEWAIT, waitsForOthers)
            switch configuration.proxy {
            case .environment: break
            case .none: handle.set(CURLOPT_PROXY, "")
            case .address(let address):
                handle.set(CURLOPT_PROXY, address)
                handle.set(CURLOPT_NOPROXY, "")
            }
            // Several addresses of a host share the time limit of a connection.
            if !configuration.limitsConnections { handle.set(CURLOPT_CONNECTTIMEOUT_MS, limit.wholeMilliseconds) }
            if !configuration.resolved.isEmpty { handle.set(CURLOPT_RESOLVE, resolved) }
            if let lowest = configuration.lowestSpeed {
                let seconds = lowest.time.bounded.components.seconds
                handle.set(CURLOPT_LOW_SPEED_LIMIT, max(1, lowest.bytesPerSecond))
                handle.set(CURLOPT_LOW_SPEED_TIME, Int(min(max(1, seconds), Int64(Int32.max))))
            }
        }

        var isSecure: Bool { transfer.request.url?.scheme?.lowercased() == "https" }

        private func setCertificates() {
            if let file = configuration.certificateAuthorities {
                for option in [CURLOPT_CAINFO, CURLOPT_PROXY_CAINFO] { handle.set(option, file.path) }
                // The system keeps its authorities in a folder, too.
                for option in [CURLOPT_CAPATH, CURLOPT_PROXY_CAPATH] { handle.set(option, nil as String?) }
            }
            guard let own = configuration.clientCertificate else { return }
            handle.set(CURLOPT_SSLCERT, own.certificate.path)
            handle.set(CURLOPT_SSLKEY, (own.key ?? own.certificate).path)
            // Without one, OpenSSL would ask for it at the terminal, and hold up all transfers meanwhile.
            handle.set(CURLOPT_KEYPASSWD, own.password ?? "")
        }
    }

    extension CurlTransport.Configuration {
        /// Requests may wait for a connection.
        var limitsConnections: Bool { connections != nil || connectionsPerHost != nil }
    }

    extension URLRequest {
        /// The header fields, one line each, as libcurl wants them: an empty value is a semicolon, and a name without a
        /// value takes out what libcurl would send.
        var headerLines: [String] {
            var lines: [String] = []
            var names: Set<String> = []
            for (name, value) in allHTTPHeaderFields ?? [:] {
                names.insert(name.lowercased())
                // libcurl knows how the body is framed, and puts all cookies into one field.
                if ["content-length", "transfer-encoding", "cookie"].contains(name.lowercased()) { continue }
                if name.isForProxies { continue }
                lines.append(value.trimmed.isEmpty ? "\(name);" : "\(name): \(value)")
            }
            // Servers that do not know it would make each large body wait for a second.
            if !names.contains("expect") { lines.append("Expect:") }
            return lines
        }

        /// The fields that are meant for a proxy, which are not sent through a tunnel (RFC 9110, 11.7.2).
        var proxyHeaderLines: [String] {
            (allHTTPHeaderFields ?? [:]).filter { $0.key.isForProxies }.map { "\($0.key): \($0.value)" }
        }
    }

    extension String {
        fileprivate var isForProxies: Bool { lowercased() == "proxy-authorization" }
    }

    extension Duration {
        /// At least one, and at most what libcurl takes: some 24 days.
        fileprivate var wholeMilliseconds: Int { Int(min(max(1, self / .milliseconds(1)), Double(Int32.max))) }
    }
#endif

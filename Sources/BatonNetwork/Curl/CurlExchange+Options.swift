#if os(Linux)
    internal import Baton
    internal import CBatonCurl
    internal import Foundation
    internal import FoundationNetworking

    /// The options of libcurl that follow from the request and from the configuration of the transport.
    extension CurlExchange {
        func setUp() {
            let request = transfer.request
            handle.setErrorBuffer(errorText.baseAddress!)
            handle.set(CURLOPT_NOSIGNAL, true)
            // If a transfer ended while its host is resolved, it would wait for the thread that resolves it.
            handle.set(CURLOPT_QUICK_EXIT, true)
            // For each request, libcurl 7.88 walks over all hosts in its DNS cache.
            handle.set(CURLOPT_DNS_CACHE_TIMEOUT, 5)
            if connections.lacksDescriptors { handle.setShortestConnectionAge() }
            if configuration.idleConnections < 1 { handle.set(CURLOPT_FORBID_REUSE, true) }
            handle.set(CURLOPT_PROTOCOLS_STR, "http,https")
            handle.set(CURLOPT_FOLLOWLOCATION, false)
            handle.set(CURLOPT_PATH_AS_IS, true)
            handle.set(CURLOPT_URL, request.url?.absoluteString)
            handle.set(CURLOPT_HTTPHEADER, header)
            handle.set(CURLOPT_PROXYHEADER, proxyHeader)
            handle.set(CURLOPT_ACCEPT_ENCODING, "")
            handle.set(CURLOPT_TCP_KEEPALIVE, true)
            setMethod(of: request)
            setConnection(of: request)
            setCertificates()
            // Tells of bytes that arrive and that cannot be unpacked yet.
            if configuration.lowestSpeed != nil { handle.set(CURLOPT_NOPROGRESS, false) }
            if request.value(forHTTPHeaderField: "User-Agent") == nil {
                handle.set(CURLOPT_USERAGENT, configuration.userAgent)
            }
            let ownCookies = request.value(forHTTPHeaderField: "Cookie")
            if request.httpShouldHandleCookies {
                keepsCookies = cookies.serve(handle, headLength: headLengthBeforeCookies, hasOwn: ownCookies != nil)
            }
            if let ownCookies { handle.set(CURLOPT_COOKIE, ownCookies) }
        }

        /// An upper bound for the bytes of the head that precede the cookies: libcurl writes some of the fields before
        /// the cookies, and adds a few of its own.
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

        /// A Boolean value that indicates whether the request may share an HTTP/2 connection. At the end of an upload
        /// that a server has refused, or whose length was unknown, libcurl 7.88 corrupts what other requests receive on
        /// the same connection.
        private var mayShareConnection: Bool { source?.isEmpty ?? true }

        private func setConnection(of request: URLRequest) {
            let mayMultiplex = configuration.version == .automatic && mayShareConnection && isSecure
            handle.set(CURLOPT_HTTP_VERSION, Int(mayMultiplex ? CURL_HTTP_VERSION_2TLS : CURL_HTTP_VERSION_1_1))
            if mayMultiplex { keepFromOtherConnections() }
            // Only the first connection to a host shows whether it speaks HTTP/2, so that no further ones are needed.
            waitsForOthers = mayMultiplex
            handle.set(CURLOPT_PIPEWAIT, waitsForOthers)
            setBufferSize(forHeadOfHTTP2: waitsForOthers)
            switch configuration.proxy {
            case .environment: break
            case .none: handle.set(CURLOPT_PROXY, "")
            case .address(let address):
                handle.set(CURLOPT_PROXY, address)
                handle.set(CURLOPT_NOPROXY, "")
            }
            // The idle limit ends an attempt to connect. By a limit of its own, libcurl 7.88 would give up an address
            // that has not answered after half of the time, and the transfer if the next one refuses.
            handle.set(CURLOPT_CONNECTTIMEOUT_MS, Int(Int32.max))
            if !configuration.resolved.isEmpty { handle.set(CURLOPT_RESOLVE, resolved) }
        }

        /// Keeps a request that may use HTTP/2 from the connections of those that may not.
        ///
        /// Once a host has an HTTP/2 connection, libcurl 7.88 also lets other requests begin on an HTTP/1.1 connection
        /// in use, and gives them the responses of each other. It uses a connection only for requests with the same
        /// options of TLS, so that this one, which has an effect only on Windows, keeps them apart.
        private func keepFromOtherConnections() {
            handle.set(CURLOPT_SSL_OPTIONS, Int(baton_curl_no_effect_on_tls))
        }

        /// Sets how many bytes libcurl reads at a time.
        ///
        /// libcurl 7.88 does not read the rest of an HTTP/2 head that is longer than its buffer until more bytes
        /// arrive, or gives the rest to another request of the connection. It refuses heads of more than 128 KB, which
        /// fit into the larger buffer. A body is read in small pieces, because a slow reader has to keep what one piece
        /// unpacks to. libcurl allocates the buffer when a transfer begins, so it must not grow before the end.
        func setBufferSize(forHeadOfHTTP2 isForHead: Bool) {
            handle.set(CURLOPT_BUFFERSIZE, isForHead ? 256 * 1024 : Int(CURL_MAX_WRITE_SIZE))
        }

        var isSecure: Bool { transfer.request.url?.scheme?.lowercased() == "https" }

        private func setCertificates() {
            if let file = configuration.certificateAuthorities {
                for option in [CURLOPT_CAINFO, CURLOPT_PROXY_CAINFO] { handle.set(option, file.path) }
                // The system also has a folder of authorities, which is not to be trusted then.
                for option in [CURLOPT_CAPATH, CURLOPT_PROXY_CAPATH] { handle.set(option, nil as String?) }
            }
            guard let own = configuration.clientCertificate else { return }
            handle.set(CURLOPT_SSLCERT, own.certificate.path)
            handle.set(CURLOPT_SSLKEY, (own.key ?? own.certificate).path)
            // If there were no password, OpenSSL would ask for it at the terminal, and block all transfers meanwhile.
            handle.set(CURLOPT_KEYPASSWD, own.password ?? "")
        }
    }

    extension CurlTransport.Configuration {
        /// A Boolean value that indicates whether requests may have to wait for a connection.
        var limitsConnections: Bool { connections != nil || connectionsPerHost != nil }
    }

    extension URLRequest {
        /// The header fields, one line each, in libcurl's syntax: a semicolon in place of the colon stands for an empty
        /// value, and a name with a colon and no value removes a field that libcurl would add.
        var headerLines: [String] {
            var lines: [String] = []
            var names: Set<String> = []
            for (name, value) in allHTTPHeaderFields ?? [:] {
                names.insert(name.lowercased())
                // libcurl frames the body itself, and puts all cookies into one field.
                if ["content-length", "transfer-encoding", "cookie"].contains(name.lowercased()) { continue }
                if name.isForProxies { continue }
                lines.append(value.trimmed.isEmpty ? "\(name);" : "\(name): \(value)")
            }
            // A server that does not support `Expect` would delay each large body by a second.
            if !names.contains("expect") { lines.append("Expect:") }
            return lines
        }

        /// The header fields for a proxy, which are not sent through a tunnel (RFC 9110, 11.7.2).
        var proxyHeaderLines: [String] {
            (allHTTPHeaderFields ?? [:]).filter { $0.key.isForProxies }.map { "\($0.key): \($0.value)" }
        }
    }

    extension String {
        fileprivate var isForProxies: Bool { lowercased() == "proxy-authorization" }
    }
#endif

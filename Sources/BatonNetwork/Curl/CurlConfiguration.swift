#if os(Linux)
    internal import Baton
    public import Foundation

    extension CurlTransport {
        /// Options of a transport: how it connects, and what it keeps between requests.
        public struct Configuration: Sendable {
            /// The version of HTTP that a transport uses.
            @nonexhaustive
            public enum Version: Sendable, Hashable {
                /// HTTP/2 on secure connections where the server offers it, otherwise HTTP/1.1.
                ///
                /// Requests with a body use HTTP/1.1, and share no connection. With libcurl 7.88, a server that
                /// refuses an upload before its end would make other requests on the connection receive wrong bytes.
                case automatic
                /// HTTP/1.1 only.
                case http1
            }

            /// The proxy that a transport uses.
            @nonexhaustive
            public enum Proxy: Sendable, Hashable {
                /// The proxy that the environment names: `http_proxy`, `https_proxy`, `all_proxy`. Hosts in `no_proxy`
                /// use none.
                case environment
                /// No proxy, whatever the environment says.
                case none
                /// The proxy with this URL, whatever the environment says: `http://user:password@host:port`, for
                /// example.
                ///
                /// The scheme may also be https, socks4, socks4a, socks5 or socks5h.
                case address(String)
            }

            /// The place where a transport keeps its cookies. Only a file shares them with other transports or
            /// programs.
            @nonexhaustive
            public enum Cookies: Sendable, Hashable {
                /// Keeps cookies in memory, as long as the transport exists.
                case inMemory
                /// Keeps cookies in memory and in a file.
                ///
                /// The file is read at the first request, and written with mode 0600 after each response that sets
                /// cookies. If several transports or programs use one file, the last one to write wins. A file that
                /// cannot be read or written, that is not a plain file, or that has more than 64 MB is ignored.
                case file(URL)
                /// Keeps no cookies.
                case none
            }

            /// A certificate that a transport presents to servers that ask for one.
            public struct ClientCertificate: Sendable, Hashable {
                /// The file of the certificate, in PEM format.
                public var certificate: URL
                /// The file of its private key, in PEM format. If nil, the key is in the file of the certificate.
                public var key: URL?
                /// The password of the key, or nil if it has none.
                public var password: String?

                /// Creates a client certificate from files in PEM format.
                ///
                /// - Parameters:
                ///   - certificate: The file of the certificate.
                ///   - key: The file of its private key. If nil, the key is in the file of the certificate.
                ///   - password: The password of the key, if it has one.
                public init(certificate: URL, key: URL? = nil, password: String? = nil) {
                    self.certificate = certificate
                    self.key = key
                    self.password = password
                }
            }

            /// A speed below which a transfer fails.
            public struct LowestSpeed: Sendable, Hashable {
                /// The number of bytes per second, on average over ``time``.
                public var bytesPerSecond: Int
                /// The time for which a transfer may be slower, in whole seconds.
                public var time: Duration

                /// Creates a limit below which transfers fail with ``HTTPError/Reason/tooSlow(bytesPerSecond:over:)``.
                ///
                /// A transfer fails as soon as it has moved too few bytes of its bodies within the last ``time``. Bytes
                /// of a packed response count as they arrive, before they are unpacked. Bytes of an upload count when
                /// the server's system has acknowledged them; over HTTP/2, when this system has accepted them. The time
                /// until a server begins its response counts, as does the time that an ``HTTPBodyStream`` takes. The
                /// time of a slow reader does not count.
                ///
                /// - Parameters:
                ///   - bytesPerSecond: The lowest number of bytes per second. A number below 1 counts as 1.
                ///   - time: The time for which a transfer may be slower, in whole seconds.
                public init(bytesPerSecond: Int, over time: Duration) {
                    self.bytesPerSecond = bytesPerSecond
                    self.time = time
                }

                /// The time in whole seconds, from one second to 68 years.
                var wholeTime: Duration { .seconds(min(max(1, time.bounded.components.seconds), Int64(Int32.max))) }
            }

            /// The version of HTTP that the transport uses.
            public var version = Version.automatic
            /// The proxy that the transport uses.
            public var proxy = Proxy.environment
            /// The place where the transport keeps its cookies.
            public var cookies = Cookies.inMemory
            /// A file in PEM format with the certificate authorities to trust; nil for those of the system.
            ///
            /// If this or a file of ``clientCertificate`` is a folder, a device or a pipe, is empty or has more than
            /// 64 MB, each request fails with ``HTTPError/Reason/invalidRequest(_:)``. A file whose content the system
            /// produces while it is read, such as those in `/proc`, counts as empty.
            public var certificateAuthorities: URL?
            /// The certificate that the transport presents to servers that ask for one.
            public var clientCertificate: ClientCertificate?
            /// The `User-Agent` of requests that do not set one.
            public var userAgent: String? = "Baton"
            /// The largest number of connections to one host, or nil for no limit.
            ///
            /// Further requests wait for a connection; their idle limit does not count meanwhile.
            /// ``OperationCondition/perHost(_:to:)`` lets operations wait before they start instead.
            public var connectionsPerHost: Int?
            /// The largest number of connections in all, or nil for no limit.
            ///
            /// Further requests wait for a connection; their idle limit does not count meanwhile.
            public var connections: Int?
            /// The number of unused connections that are kept for later requests.
            ///
            /// At most half as many are kept as the process could have files open when the transport sent its first
            /// request, so that kept connections do not prevent new ones. After a burst of requests, the surplus is
            /// closed one by one, with later requests. If a request or a file finds no free descriptor, all transports
            /// of the process close the connections that have been unused for a second or two, for the next attempt.
            public var idleConnections = 100
            /// A speed below which a transfer fails. If nil, only the idle limit of each request counts.
            public var lowestSpeed: LowestSpeed?
            /// Addresses of hosts that are not looked up, in the form of curl's `--resolve`:
            /// "example.org:443:192.0.2.1,[2001:db8::1]".
            ///
            /// If an entry has another form, each request fails with ``HTTPError/Reason/invalidRequest(_:)``.
            public var resolved: [String] = []

            /// Creates the default configuration.
            public init() {}
        }
    }

    extension CurlTransport.Configuration {
        /// The reason why a file of certificates cannot be used, or nil. OpenSSL would wait for a pipe or a device, for
        /// example, and so block all requests of the transport.
        var problemOfCertificates: String? {
            let files: [(option: String, file: URL?)] = [
                ("certificateAuthorities", certificateAuthorities),
                ("clientCertificate.certificate", clientCertificate?.certificate),
                ("clientCertificate.key", clientCertificate?.key),
            ]
            for case (let option, let file?) in files {
                let subject =
                    "the option \(option) of the transport, ‘\(file.isFileURL ? file.path : file.withoutSecrets)’,"
                if !file.isFileURL { return subject + " is not a file" }
                switch File.problemOfReading(file.path) {
                case .isMissing: return subject + " does not exist. Name a file in PEM format"
                case .isDirectory: return subject + " is a folder. Name a file in PEM format"
                case .isDevice: return subject + " is a device, a pipe or a socket. Name a file in PEM format"
                case .isEmpty: return subject + " is empty. Name a file in PEM format"
                case .isTooLong: return subject + " has more than 64 MB. Name a file in PEM format"
                case nil: break
                }
            }
            return nil
        }

        /// The reason why the address of the proxy cannot be used, or nil. libcurl would use no proxy, or read only a
        /// part of the address.
        var problemOfProxy: String? {
            guard case .address(let address) = proxy else { return nil }
            let found = address.isEmpty ? "is empty" : "contains a null character"
            guard address.isEmpty || address.utf8.contains(0) else { return nil }
            return "the option proxy of the transport has an address that \(found). Write it as "
                + "http://user:password@host:port, or set the option to none"
        }

        /// The reason why the addresses of hosts cannot be used, or nil. libcurl would ignore some wrong entries, and
        /// fail for the others without naming the option.
        var problemOfResolved: String? {
            resolved.first { !$0.isResolvedEntry }.map { entry in
                "the option resolved of the transport has the entry ‘\(entry)’. Write it as host:port:address, with "
                    + "commas between several addresses: example.org:443:192.0.2.1,[2001:db8::1]"
            }
        }
    }

    extension String {
        /// A Boolean value that indicates whether this is an entry of ``CurlTransport/Configuration/resolved`` that
        /// libcurl understands: "host:port:addresses", "+host:port:addresses" or "-host:port".
        fileprivate var isResolvedEntry: Bool {
            if utf8.contains(where: { $0 <= 0x20 || $0 == 0x7f }) { return false }
            let isRemoval = utf8.first == UInt8(ascii: "-")
            let name = isRemoval || utf8.first == UInt8(ascii: "+") ? utf8.dropFirst() : utf8[...]
            let fields = name.split(separator: UInt8(ascii: ":"), maxSplits: 2, omittingEmptySubsequences: false)
            guard fields.count == (isRemoval ? 2 : 3), 1...255 ~= fields[0].count,
                UInt16(String(Substring(fields[1]))) != nil
            else { return false }
            if isRemoval { return true }
            let addresses = fields[2].split(separator: UInt8(ascii: ","))
            return !addresses.isEmpty && addresses.allSatisfy { String(Substring($0)).isAddress }
        }

        /// A Boolean value that indicates whether this is an IPv4 or IPv6 address, which may have brackets.
        private var isAddress: Bool {
            IPAddress(hasPrefix("[") && hasSuffix("]") ? String(dropFirst().dropLast()) : self) != nil
        }
    }
#endif

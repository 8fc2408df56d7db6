#if os(Linux)
    public import Foundation

    extension CurlTransport {
        /// How a transport connects, and what it keeps.
        public struct Configuration: Sendable {
            /// Which version of HTTP is spoken.
            @nonexhaustive
            public enum Version: Sendable, Hashable {
                /// HTTP/2 where a server offers it on a secure connection, else HTTP/1.1. Requests with a body use
                /// HTTP/1.1: see ``Configuration/uploadsShareConnections``.
                case automatic
                /// HTTP/1.1 only.
                case http1
            }

            /// Which proxy is used.
            @nonexhaustive
            public enum Proxy: Sendable, Hashable {
                /// That of the environment: `http_proxy`, `https_proxy`, `all_proxy`, and none for the hosts of
                /// `no_proxy`.
                case environment
                /// None, whatever the environment says.
                case none
                /// This one, whatever the environment says: `http://user:password@host:port`, or with the scheme https,
                /// socks4, socks4a, socks5 or socks5h.
                case address(String)
            }

            /// Where cookies are kept. They are never shared with another transport or program unless a file is named.
            @nonexhaustive
            public enum Cookies: Sendable, Hashable {
                /// In memory, as long as the transport lasts.
                case inMemory
                /// In this file too, which is read at the first request, and written with mode 0600 after each answer
                /// that sets some. Of several transports or programs that use one file, the last to write counts. A
                /// file that cannot be read or written, or is no plain file, is left alone.
                case file(URL)
                /// Nowhere.
                case none
            }

            /// Whose certificate a server may ask for.
            public struct ClientCertificate: Sendable, Hashable {
                /// The certificate, in PEM.
                public var certificate: URL
                /// Its private key, in PEM. Nil: it is in the same file.
                public var key: URL?
                /// The password of the key, if it has one.
                public var password: String?

                /// A certificate and its key, in PEM.
                public init(certificate: URL, key: URL? = nil, password: String? = nil) {
                    self.certificate = certificate
                    self.key = key
                    self.password = password
                }
            }

            /// A speed below which a transfer fails.
            public struct LowestSpeed: Sendable, Hashable {
                /// Bytes a second, in the mean over ``time``.
                public var bytesPerSecond: Int
                /// How long a transfer may be slower, in whole seconds.
                public var time: Duration

                /// Transfers that are slower than this for so long fail with
                /// ``HTTPError/Reason/tooSlow(bytesPerSecond:over:)``.
                ///
                /// The time until a server begins its answer counts, as does the time that a ``HTTPBodyStream`` takes.
                /// A slow reader does not.
                public init(bytesPerSecond: Int, over time: Duration) {
                    self.bytesPerSecond = bytesPerSecond
                    self.time = time
                }
            }

            /// Which version of HTTP is spoken.
            public var version = Version.automatic
            /// Whether requests with a body may use HTTP/2, and so share a connection with others, where a server
            /// offers it. Streams whose length is not known never do.
            ///
            /// With libcurl 7.88, when a server refuses an upload before its end, other requests on the connection may
            /// get wrong bytes, those of other answers even, and an answer that comes at once may be lost. Set this for
            /// servers that have HTTP/2 alone, or with a newer libcurl.
            public var uploadsShareConnections = false
            /// Which proxy is used.
            public var proxy = Proxy.environment
            /// Where cookies are kept.
            public var cookies = Cookies.inMemory
            /// Whose certificates are trusted: a file in PEM. Nil: those of the system.
            public var certificateAuthorities: URL?
            /// What this side shows a server that asks for a certificate.
            public var clientCertificate: ClientCertificate?
            /// The `User-Agent` of requests that have none.
            public var userAgent: String? = "Baton"
            /// How many connections there may be to one host. Requests beyond that wait, for which their idle limit
            /// does not count. Nil: as many as there are requests.
            ///
            /// ``OperationCondition/perHost(_:to:)`` lets operations wait before they start instead.
            public var connectionsPerHost: Int?
            /// How many connections there may be in all. Requests beyond that wait, for which their idle limit does not
            /// count. Nil: as many as there are requests.
            public var connections: Int?
            /// How many connections are kept for later when nobody uses them. There are never more than half as many as
            /// the process may have files open when the transport sends its first request, so that kept ones do not
            /// keep others from being made. What is left of more requests at once is closed one by one, with later
            /// requests.
            public var idleConnections = 100
            /// A speed below which a transfer fails. Nil: none; the idle limit of each request counts.
            public var lowestSpeed: LowestSpeed?
            /// Addresses for hosts that are not asked of the system: "example.org:443:192.0.2.1,[2001:db8::1]", in the
            /// form of curl's `--resolve`.
            public var resolved: [String] = []

            /// The usual configuration.
            public init() {}
        }
    }
#endif

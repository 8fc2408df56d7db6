import BatonNetwork

/// The transports that there are on this platform, new ones each time.
enum Transports {
    /// Those that can be given files and streams, and cancelled while they read them. URLSession on Linux may end the
    /// process then.
    static var forUploads: [any HTTPTransport] { [DefaultHTTPTransport()] }

    #if os(Linux)
        static var all: [any HTTPTransport] { [CurlTransport(), URLSessionTransport()] }
    #else
        static var all: [any HTTPTransport] { [URLSessionTransport()] }
    #endif
}

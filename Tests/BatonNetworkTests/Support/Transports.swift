import BatonNetwork

/// The transports of this platform. Each access makes new ones.
enum Transports {
    /// The transports that can be cancelled while they read files and streams. URLSession on Linux may crash then.
    static var forUploads: [any HTTPTransport] { [DefaultHTTPTransport()] }

    #if os(Linux)
        static var all: [any HTTPTransport] { [CurlTransport(), URLSessionTransport()] }
    #else
        static var all: [any HTTPTransport] { [URLSessionTransport()] }
    #endif
}

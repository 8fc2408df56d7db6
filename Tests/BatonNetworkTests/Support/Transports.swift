import BatonNetwork

/// The transports that there are on this platform, new ones each time.
enum Transports {
    #if os(Linux)
        static var all: [any HTTPTransport] { [CurlTransport(), URLSessionTransport()] }
    #else
        static var all: [any HTTPTransport] { [URLSessionTransport()] }
    #endif
}

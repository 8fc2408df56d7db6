import Foundation

#if canImport(Darwin)
    import Darwin
#elseif canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#endif

/// A connection whose methods block the calling thread until bytes are sent or received, for at most ten seconds.
final class RawClient {
    enum Received: Equatable {
        case text(String)
        case end
        case failed(Int32)
    }

    private var descriptor: Int32

    init(port: Int) throws {
        #if canImport(Glibc)
            descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
        #else
            descriptor = socket(AF_INET, SOCK_STREAM, 0)
        #endif
        var limit = timeval(tv_sec: 10, tv_usec: 0)
        setsockopt(descriptor, SOL_SOCKET, SO_RCVTIMEO, &limit, socklen_t(MemoryLayout<timeval>.size))
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = UInt16(port).bigEndian
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        let status = withUnsafePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
            }
        }
        if status != 0 { throw Refused(code: errno) }
    }

    struct Refused: Error {
        let code: Int32
    }

    deinit { close() }

    func close() {
        if descriptor >= 0 {
            #if canImport(Darwin)
                _ = Darwin.close(descriptor)
            #elseif canImport(Glibc)
                _ = Glibc.close(descriptor)
            #elseif canImport(Musl)
                _ = Musl.close(descriptor)
            #endif
        }
        descriptor = -1
    }

    /// Closes the connection with a reset.
    func reset() {
        var now = linger(l_onoff: 1, l_linger: 0)
        setsockopt(descriptor, SOL_SOCKET, SO_LINGER, &now, socklen_t(MemoryLayout<linger>.size))
        close()
    }

    /// Sends a text. Does not raise `SIGPIPE` if the server has closed the connection.
    func send(_ text: String) {
        #if canImport(Darwin)
            let flags: Int32 = 0
            var yes: Int32 = 1
            setsockopt(descriptor, SOL_SOCKET, SO_NOSIGPIPE, &yes, socklen_t(MemoryLayout<Int32>.size))
        #else
            let flags = Int32(MSG_NOSIGNAL)
        #endif
        let bytes = Array(text.utf8)
        #if canImport(Darwin)
            _ = Darwin.send(descriptor, bytes, bytes.count, flags)
        #elseif canImport(Glibc)
            _ = Glibc.send(descriptor, bytes, bytes.count, flags)
        #elseif canImport(Musl)
            _ = Musl.send(descriptor, bytes, bytes.count, flags)
        #endif
    }

    /// Sends the lines of a head, each with its line break, and the empty line that ends the head.
    func sendHead(_ lines: String...) { send(lines.map { $0 + "\r\n" }.joined() + "\r\n") }

    /// Waits until at least one byte has arrived, and returns the bytes that are available.
    func receive() -> Received {
        var bytes = [UInt8](repeating: 0, count: 65536)
        let count = read(descriptor, &bytes, bytes.count)
        if count > 0 { return .text(String(decoding: bytes.prefix(count), as: UTF8.self)) }
        return count == 0 ? .end : .failed(errno)
    }

    /// Returns all bytes up to the end of the stream or a reset.
    func receiveAllBytes() -> Data {
        var data = Data()
        var bytes = [UInt8](repeating: 0, count: 65536)
        while true {
            let count = read(descriptor, &bytes, bytes.count)
            if count <= 0 { return data }
            data.append(contentsOf: bytes.prefix(count))
        }
    }

    /// Returns at least `count` bytes, or those before the end of the stream.
    func receive(_ count: Int) -> String {
        var text = ""
        while text.utf8.count < count, case .text(let more) = receive() { text += more }
        return text
    }

    /// Returns the text up to the end of the stream.
    func receiveAll() -> String { receive(.max) }

    /// Returns the body of the next response that has a Content-Length.
    func receiveBody() -> String {
        var text = ""
        while true {
            if let end = text.range(of: "\r\n\r\n"), let length = text.range(of: "Content-Length: "),
                let count = Int(text[length.upperBound...].prefix { $0.isNumber }),
                text[end.upperBound...].utf8.count >= count
            {
                return String(text[end.upperBound...])
            }
            guard case .text(let more) = receive() else { return text }
            text += more
        }
    }
}

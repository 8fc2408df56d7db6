#if os(Linux)
    internal import CBatonCurl
    internal import Foundation

    /// An easy handle of libcurl, which performs one transfer.
    ///
    /// Only this file passes pointers to easy handles. Callbacks run on the transport's thread, and lead to the
    /// ``CurlExchange`` that owns the handle.
    struct CurlHandle {
        let pointer: UnsafeMutableRawPointer

        init(pointer: UnsafeMutableRawPointer) { self.pointer = pointer }

        /// Returns nil if there is no memory left.
        init?() {
            guard let pointer = baton_curl_make_handle() else { return nil }
            self.init(pointer: pointer)
        }

        /// Releases the handle. Must be called once, when the handle is in no multi handle.
        func close() { baton_curl_free_handle(pointer) }

        /// The number of objects of libcurl that the process has made and not freed: handles, multi handles, shares and
        /// lists.
        static var objectCount: Int { baton_curl_object_count() }

        // MARK: Options

        func set(_ option: CURLoption, _ value: Int) { _ = baton_curl_set_long(pointer, option, value) }

        func set(_ option: CURLoption, _ value: Bool) { set(option, value ? 1 : 0) }

        /// Sets a text, which libcurl copies.
        func set(_ option: CURLoption, _ value: String?) { _ = baton_curl_set_string(pointer, option, value) }

        /// Sets a list, which must live as long as the handle.
        func set(_ option: CURLoption, _ list: CurlList) { _ = baton_curl_set_list(pointer, option, list.pointer) }

        func setUploadLength(_ length: Int64?) {
            _ = baton_curl_set_offset(pointer, CURLOPT_INFILESIZE_LARGE, length ?? -1)
        }

        /// Sets the buffer to which libcurl writes the text of an error.
        func setErrorBuffer(_ buffer: UnsafeMutablePointer<CChar>) {
            _ = baton_curl_set_pointer(pointer, CURLOPT_ERRORBUFFER, buffer)
        }

        func setShare(_ share: UnsafeMutableRawPointer?) { _ = baton_curl_set_pointer(pointer, CURLOPT_SHARE, share) }

        /// Returns the number of bytes that the longest shared cookie takes in a request, or all shared cookies
        /// together.
        func cookieLength(ofAll: Bool) -> Int { baton_curl_cookie_length(pointer, ofAll ? 1 : 0) }

        func unpause(receiving: Bool, sending: Bool) {
            curl_easy_pause(pointer, (receiving ? 0 : CURLPAUSE_RECV) | (sending ? 0 : CURLPAUSE_SEND))
        }

        /// Makes libcurl close connections that have been unused for a second when it looks for one.
        func setShortestConnectionAge() { set(CURLOPT_MAXAGE_CONN, 1) }

        /// Sets up a transfer that fails before it has a connection.
        func setNoConnection() {
            set(CURLOPT_NOSIGNAL, true)
            set(CURLOPT_PROXY, "")
            set(CURLOPT_URL, "http://127.0.0.1/")
            setShortestConnectionAge()
            // Otherwise a kept connection to that address would be used.
            set(CURLOPT_FRESH_CONNECT, true)
            _ = baton_curl_set_socket(pointer) { _, _, _ in -1 }
        }

        // MARK: Information

        func number(_ info: CURLINFO) -> Int { baton_curl_long(pointer, info) }

        /// The version of HTTP that both sides of a secure connection have agreed on.
        var version: CurlConnections.Version {
            switch baton_curl_speaks_http2(pointer) {
            case 0: .http1
            case 1: .http2
            default: .unknown
            }
        }

        /// A Boolean value that indicates whether libcurl is working on this handle on a secure connection.
        var hasSecureConnection: Bool { baton_curl_has_tls(pointer) != 0 }

        /// A Boolean value that indicates whether OpenSSL has read bytes from the socket that libcurl has not read yet.
        var hasReadMore: Bool { baton_curl_has_read_more(pointer) != 0 }

        // MARK: Callbacks

        /// The exchange that the callbacks of this handle lead to.
        var exchange: CurlExchange { Self.exchange(baton_curl_private(pointer)) }

        /// Sets the exchange that the callbacks lead to. It must live until the handle is closed.
        func setExchange(_ exchange: CurlExchange) {
            let context = Unmanaged.passUnretained(exchange).toOpaque()
            for option in [
                CURLOPT_PRIVATE, CURLOPT_WRITEDATA, CURLOPT_HEADERDATA, CURLOPT_READDATA, CURLOPT_SEEKDATA,
                CURLOPT_XFERINFODATA, CURLOPT_PREREQDATA, CURLOPT_RESOLVER_START_DATA, CURLOPT_OPENSOCKETDATA,
            ] { _ = baton_curl_set_pointer(pointer, option, context) }
            _ = baton_curl_set_data(pointer, CURLOPT_HEADERFUNCTION) { bytes, size, count, context in
                let line = UnsafeRawBufferPointer(start: bytes, count: size * count)
                return CurlHandle.exchange(context).receive(line: line) ? line.count : 0
            }
            _ = baton_curl_set_data(pointer, CURLOPT_WRITEFUNCTION) { bytes, size, count, context in
                let piece = UnsafeRawBufferPointer(start: bytes, count: size * count)
                switch CurlHandle.exchange(context).receive(piece) {
                case .taken: return piece.count
                case .pause: return Int(baton_curl_write_pause)
                // A return value other than the count stops the transfer. 0 would not do, because the piece may be
                // empty.
                case .stop: return piece.count + 1
                }
            }
            _ = baton_curl_set_data(pointer, CURLOPT_READFUNCTION) { bytes, size, count, context in
                CurlHandle.exchange(context).send(
                    into: UnsafeMutableRawBufferPointer(start: bytes, count: size * count))
            }
            _ = baton_curl_set_seek(pointer) { context, offset, origin in
                let isDone = origin == SEEK_SET && CurlHandle.exchange(context).rewind(to: Int64(offset))
                return Int32(isDone ? CURL_SEEKFUNC_OK : CURL_SEEKFUNC_FAIL)
            }
            _ = baton_curl_set_progress(pointer) { context, _, arrived, _, sent in
                CurlHandle.exchange(context).hasMoved(arrived: Int64(arrived), sent: Int64(sent))
                return 0
            }
            _ = baton_curl_set_socket(pointer) { context, _, address in
                guard let address else { return -1 }
                let socket = baton_curl_open(address)
                CurlHandle.exchange(context).socketOpened(socket, error: socket < 0 ? errno : 0)
                return socket
            }
            _ = baton_curl_set_request(pointer) { context, peer, _, peerPort, localPort in
                let connection = CurlConnections.ID(
                    localPort: localPort, peer: peer.map { String(cString: $0) } ?? "", peerPort: peerPort)
                let mayBeSent = CurlHandle.exchange(context).requestBegins(on: connection)
                return Int32(mayBeSent ? CURL_PREREQFUNC_OK : CURL_PREREQFUNC_ABORT)
            }
            _ = baton_curl_set_resolve(pointer) { _, _, context in
                CurlHandle.exchange(context).connectionBegins()
                return 0
            }
        }

        private static func exchange(_ context: UnsafeMutableRawPointer?) -> CurlExchange {
            guard let context else { preconditionFailure("Internal inconsistency: a callback without a context") }
            return Unmanaged<CurlExchange>.fromOpaque(context).takeUnretainedValue()
        }
    }

    /// A list of texts in libcurl's format.
    final class CurlList {
        fileprivate private(set) var pointer: UnsafeMutablePointer<curl_slist>?

        init(_ texts: [String] = []) {
            for text in texts {
                guard let longer = baton_curl_append(pointer, text) else { continue }
                pointer = longer
            }
        }

        deinit { baton_curl_free_list(pointer) }
    }
#endif

#if os(Linux)
    internal import Baton
    internal import CBatonCurl
    internal import Foundation
    internal import FoundationNetworking

    /// The result that libcurl reports at the end of a transfer, and its translation into an error of the request.
    struct CurlResult {
        let code: CURLcode
        let text: String
        let handle: CurlHandle
        let configuration: CurlTransport.Configuration
        let limit: Duration
        /// The URL of the proxy, without its password; empty if there is none.
        let proxy: String
        /// A Boolean value that indicates whether libcurl has begun to send the request.
        let isSent: Bool
        /// A Boolean value that indicates whether the connection is known to use HTTP/2.
        let usesHTTP2: Bool

        /// The reason for refusing an answer that begins with bytes of the previous one.
        static let leftovers =
            "its connection was kept after another response, and the server sent more bytes than belong to that one"

        /// Returns nil if the response is complete.
        ///
        /// libcurl reports success if the connection ends inside the head; that is an error here.
        func reason(head: HTTPHead?, receivedCount: Int64, request: URLRequest) -> HTTPError.Reason? {
            if code == CURLE_OK { return head == nil ? .connectionBroken : nil }
            let reason = throughProxy(reason(of: request, hasHead: head != nil), of: request)
            guard reason == .connectionBroken, let promised = head?.bodyLength(for: request), receivedCount < promised
            else { return reason }
            return .bodyTooShort(received: receivedCount, promised: promised)
        }

        private func reason(of request: URLRequest, hasHead: Bool) -> HTTPError.Reason {
            // The text of libcurl contains the proxy's URL with its password, so it is not shown.
            let source = configuration.proxy == .environment ? "environment" : "configuration"
            if text.hasPrefix("Unsupported proxy") {
                return .invalidRequest(
                    "the address of the proxy in the \(source) is none. Write it as http://user:password@host:port, "
                        + "with percent signs for other characters than letters and digits")
            }
            // libcurl reports malformed chunks with several different codes.
            if text.contains("chunked-encod"), !isChunkedContentProblem { return .invalidAnswer(words) }
            switch code {
            case CURLE_URL_MALFORMAT where hasProxyHostOfOtherCharacters(request):
                return .invalidRequest(
                    "the host of the proxy in the \(source) has characters that libcurl cannot look up. Write it in "
                        + "its ASCII form, which begins with xn--")
            case CURLE_URL_MALFORMAT: return .invalidURL(request.url?.withoutSecrets ?? "")
            // libcurl reports this code for a carriage return inside a line of the head.
            case CURLE_BAD_FUNCTION_ARGUMENT: return .invalidAnswer("its head is damaged")
            case CURLE_BAD_CONTENT_ENCODING, CURLE_WRITE_ERROR:
                return .invalidAnswer("its content is damaged, or packed in a way that libcurl cannot unpack: \(words)")
            case CURLE_UNSUPPORTED_PROTOCOL where text.hasPrefix("Unsupported response code"):
                return .invalidAnswer(HeadParser.invalidStatus)
            case CURLE_UNSUPPORTED_PROTOCOL, CURLE_WEIRD_SERVER_REPLY:
                return .invalidAnswer(isAboutConnection ? "it is not HTTP" : words)
            case CURLE_COULDNT_RESOLVE_HOST: return hasDescriptors ? .hostNotFound : .tooManyOpenFiles
            case CURLE_PROXY where isDeniedForGood: return .proxyDenied(proxy: proxy, words)
            case CURLE_COULDNT_RESOLVE_PROXY, CURLE_PROXY:
                return hasDescriptors ? .proxyNotReached(proxy: proxy, words) : .tooManyOpenFiles
            case CURLE_COULDNT_CONNECT: return connectionReason(request)
            case CURLE_OPERATION_TIMEDOUT: return .timedOut(after: limit)
            case CURLE_SSL_CONNECT_ERROR where breaksTheConnection: return .connectionBroken
            case CURLE_SSL_CONNECT_ERROR, CURLE_PEER_FAILED_VERIFICATION, CURLE_SSL_ENGINE_NOTFOUND,
                CURLE_SSL_ENGINE_SETFAILED, CURLE_SSL_CERTPROBLEM, CURLE_SSL_CIPHER, CURLE_USE_SSL_FAILED,
                CURLE_SSL_ENGINE_INITFAILED, CURLE_SSL_CACERT_BADFILE, CURLE_SSL_SHUTDOWN_FAILED,
                CURLE_SSL_CRL_BADFILE, CURLE_SSL_ISSUER_ERROR, CURLE_SSL_PINNEDPUBKEYNOTMATCH,
                CURLE_SSL_INVALIDCERTSTATUS, CURLE_SSL_CLIENTCERT:
                return hasDescriptors ? .insecureConnection(words) : .tooManyOpenFiles
            // libcurl reports this if the response breaks the rules for a connection. It reports other codes if the
            // server closes the connection.
            case CURLE_GOT_NOTHING where usesHTTP2: return .invalidAnswer("it breaks the rules of HTTP/2")
            case CURLE_HTTP2_STREAM where breaksRulesOfStreams: return .invalidAnswer(words)
            case CURLE_PARTIAL_FILE, CURLE_GOT_NOTHING, CURLE_SEND_ERROR, CURLE_SEND_FAIL_REWIND,
                CURLE_HTTP2_STREAM, CURLE_HTTP2:
                return .connectionBroken
            case CURLE_RECV_ERROR: return receivingReason(request)
            case CURLE_UPLOAD_FAILED: return .invalidRequest("\(words). Give the body's length")
            // libcurl reports its internal limits with this code.
            case CURLE_OUT_OF_MEMORY where !hasHead: return .invalidAnswer("its head has too long a line")
            case CURLE_OUT_OF_MEMORY: return .invalidAnswer("its content unpacks to far more than was sent")
            // No option of the transport leads here: wrong addresses of hosts are found before the request is sent, and
            // libcurl has no other codes for the options that a transport sets.
            default: return .other(code: Int(code.rawValue), words)
            }
        }

        /// The text of libcurl, or its general description of the code.
        private var words: String {
            text.isEmpty || isChunkedContentProblem ? String(cString: curl_easy_strerror(code)) : text.trimmed
        }

        /// A Boolean value that indicates whether content that arrived in chunks cannot be used. The chunks are valid,
        /// and the code says what is wrong with the content.
        private var isChunkedContentProblem: Bool { text.hasPrefix("Failed reading the chunked-encoded stream") }

        /// A Boolean value that indicates whether the text is about a broken connection. libcurl keeps the first text
        /// of a transfer, which may be that of an error which it has overcome.
        private var isAboutConnection: Bool { text.hasPrefix("Recv failure") || text.hasPrefix("Send failure") }

        // MARK: Connections

        private func connectionReason(_ request: URLRequest) -> HTTPError.Reason {
            if !hasDescriptors { return .tooManyOpenFiles }
            if !proxy.isEmpty, let parts = URLComponents(string: proxy), text.namesOnly(parts, not: request.url) {
                return .proxyNotReached(proxy: proxy, words)
            }
            switch Int32(handle.number(CURLINFO_OS_ERRNO)) {
            case ECONNREFUSED: return .connectionRefused
            case EMFILE, ENFILE: return .tooManyOpenFiles
            default: return text.contains("refused") ? .connectionRefused : .hostNotReached(words)
            }
        }

        /// Translates an error of receiving. libcurl also reports one for a tunnel that the proxy refuses, and for a
        /// proxy's response that it does not understand.
        private func receivingReason(_ request: URLRequest) -> HTTPError.Reason {
            let status = handle.number(CURLINFO_HTTP_CONNECTCODE)
            if status >= 300 { return .proxyRefused(proxy: proxy, status: status) }
            if text.hasPrefix("Too large response headers") { return .invalidAnswer(words) }
            // libcurl accepts heads of 128 KB. A longer one ends the connection, with all of its requests.
            if usesHTTP2, text.contains("callback function failed") {
                return .invalidAnswer("a head on its HTTP/2 connection is longer than the 128 KB that libcurl accepts")
            }
            // A server that rejects the client's certificate, or misses one, says so after the key exchange (RFC 8446,
            // 4.4.2.4).
            if text.contains("SSL routines"), text.contains("alert") { return .insecureConnection(words) }
            return .connectionBroken
        }

        /// A Boolean value that indicates whether the peer has closed the connection during the TLS handshake. That is
        /// the failure of a server, and not one of trust.
        private var breaksTheConnection: Bool {
            ["SSL_ERROR_SYSCALL", "unexpected eof", "Connection reset"].contains { text.contains($0) }
        }

        /// A Boolean value that indicates whether the process can open a descriptor. libcurl has no code for a process
        /// that has reached its limit.
        private var hasDescriptors: Bool {
            do throws(FileError) {
                try File.open("/dev/null", O_RDONLY | O_CLOEXEC).close()
                return true
            } catch {
                return ![.other(errno: EMFILE), .other(errno: ENFILE)].contains(error.problem)
            }
        }

        /// A Boolean value that indicates whether a stream has ended because the response breaks the rules of HTTP/2
        /// (RFC 9113, 7). libcurl reports the same if the server has reset the stream with one of these codes.
        private var breaksRulesOfStreams: Bool {
            ["PROTOCOL_ERROR", "FLOW_CONTROL_ERROR", "STREAM_CLOSED", "FRAME_SIZE_ERROR", "COMPRESSION_ERROR"]
                .contains { text.contains($0) }
        }

        // MARK: Proxies

        /// A Boolean value that indicates whether a SOCKS proxy has given an answer that it will give again: it accepts
        /// neither the credentials nor their absence, or does not allow the connection.
        private var isDeniedForGood: Bool {
            let answers = [
                CURLPX_NO_AUTH, CURLPX_USER_REJECTED, CURLPX_LONG_USER, CURLPX_LONG_PASSWD, CURLPX_LONG_HOSTNAME,
                CURLPX_IDENTD, CURLPX_IDENTD_DIFFER, CURLPX_GSSAPI, CURLPX_GSSAPI_PERMSG, CURLPX_GSSAPI_PROTECTION,
                CURLPX_REPLY_NOT_ALLOWED, CURLPX_REPLY_COMMAND_NOT_SUPPORTED, CURLPX_REPLY_ADDRESS_TYPE_NOT_SUPPORTED,
            ]
            return answers.contains { handle.number(CURLINFO_PROXY_ERROR) == Int($0.rawValue) }
        }

        /// Returns whether the host of the proxy has characters that libcurl may be unable to convert. The host of a
        /// request has its ASCII form already.
        private func hasProxyHostOfOtherCharacters(_ request: URLRequest) -> Bool {
            let address = CurlProxy.wholeAddress(for: request.url, configuration.proxy).utf8
            let end = address.lastIndex(of: UInt8(ascii: "@")).map { address.index(after: $0) }
            return address[(end ?? address.startIndex)...].contains { $0 >= 0x80 }
        }

        /// If a tunnel breaks before the request is sent, the error is that of the proxy.
        private func throughProxy(_ reason: HTTPError.Reason, of request: URLRequest) -> HTTPError.Reason {
            guard reason == .connectionBroken, !isSent, request.url?.scheme?.lowercased() == "https",
                handle.number(CURLINFO_HTTP_CONNECTCODE) == 0
            else { return reason }
            return proxy.isEmpty ? reason : .proxyNotReached(proxy: proxy, "the tunnel did not come about")
        }
    }

    extension String {
        /// Returns whether this message of libcurl is about a connection to the host and the port of the proxy, and
        /// these are not the host and the port of the request.
        fileprivate func namesOnly(_ proxy: URLComponents, not url: URL?) -> Bool {
            guard let host = proxy.host?.withoutBrackets, contains("to \(host) port ") else { return false }
            return host != url?.host?.withoutBrackets || proxy.port != url?.port
        }

        /// The host without the brackets around an IPv6 address, which libcurl leaves out.
        private var withoutBrackets: String {
            hasPrefix("[") && hasSuffix("]") ? String(dropFirst().dropLast()) : self
        }
    }
#endif

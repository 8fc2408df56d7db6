#if os(Linux)
    internal import CBatonCurl
    internal import Foundation

    /// The cookies of a transport, which all of its handles share. Only the transport's thread uses this object.
    final class CurlCookies {
        private let share: UnsafeMutableRawPointer?
        /// The file of the cookies; nil if there is none, or if it cannot be used.
        private var file: String?
        private var isRead = false

        init(_ cookies: CurlTransport.Configuration.Cookies) {
            switch cookies {
            case .inMemory: (share, file) = (baton_curl_cookie_share(), nil)
            case .file(let url):
                // libcurl would replace a symbolic link by a file.
                let path = url.isFileURL ? try? File.resolvingLinks(of: url.path) : nil
                // A pipe would block the thread.
                let plain = path.flatMap { File.problem(at: $0) == nil ? $0 : nil }
                (share, file) = (baton_curl_cookie_share(), plain)
            case .none: (share, file) = (nil, nil)
            }
        }

        /// Releases the cookies. Must be called when no handle is left.
        func close() {
            if let share { baton_curl_free_share(share) }
        }

        /// libcurl 7.88 adds cookies to a request while its head is shorter than this number of bytes. If the first
        /// cookie does not fit, the head never ends. If some of the cookies do not fit, the request's own cookies are
        /// left out.
        private static let longestHead = 8190
        /// libcurl accepts no cookie whose name and value have more than 4,096 bytes together.
        private static let longestCookie = 4096 + 8

        /// Lets a handle send cookies and keep those of the response, unless the head of the request is too long for
        /// that.
        ///
        /// - Parameters:
        ///   - headLength: An upper bound for the bytes of the head that precede the cookies.
        ///   - hasOwn: Whether the request has its own field `Cookie`.
        /// - Returns: Whether the handle keeps cookies.
        /// - Complexity: O(1) in most cases; O(*n*) for *n* cookies if the request has its own or its head is long.
        func serve(_ handle: CurlHandle, headLength: Int, hasOwn: Bool) -> Bool {
            guard let share else { return false }
            readFile(through: handle, into: share)
            handle.setShare(share)
            let isSafe = !hasOwn && headLength + Self.longestCookie < Self.longestHead
            guard isSafe || headLength + handle.cookieLength(ofAll: hasOwn) < Self.longestHead else {
                handle.setShare(nil)
                return false
            }
            handle.set(CURLOPT_COOKIEFILE, "")
            return true
        }

        /// Reads the file into the shared cookies, through a handle, if that has not been done yet.
        private func readFile(through handle: CurlHandle, into share: UnsafeMutableRawPointer) {
            guard let file, !isRead else { return }
            isRead = true
            switch File.problemOfReading(file) {
            case nil, .isMissing: break
            case .isEmpty: return
            case .isDirectory, .isDevice, .isTooLong:
                self.file = nil
                return
            }
            handle.setShare(share)
            handle.set(CURLOPT_COOKIEFILE, file)
            handle.set(CURLOPT_COOKIELIST, "RELOAD")
            // This keeps the handle from reading the file once more. It also removes the cookies from the handle.
            handle.set(CURLOPT_COOKIEFILE, nil as String?)
        }

        /// Makes the handle write the shared cookies to the file when it is closed, because a response has set some.
        /// The handle must keep cookies; otherwise it would empty the file.
        func note(in handle: CurlHandle) {
            guard let file, let made = try? File.openWritable(file, mode: 0o600) else { return }
            // libcurl gives the file that it writes the permissions of the existing one.
            made.restrictToOwner()
            made.close()
            handle.set(CURLOPT_COOKIEJAR, file)
        }
    }
#endif

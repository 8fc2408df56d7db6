#if os(Linux)
    internal import CBatonCurl
    internal import Foundation

    /// The cookies of a transport, which all of its handles share. Its thread alone uses it.
    final class CurlCookies {
        private let share: UnsafeMutableRawPointer?
        private let file: String?
        private var isRead = false

        init(_ cookies: CurlTransport.Configuration.Cookies) {
            switch cookies {
            case .inMemory: (share, file) = (baton_curl_cookie_share(), nil)
            case .file(let url):
                // libcurl would put a file in the place of a link.
                let path = url.resolvingSymlinksInPath().path
                // A pipe would block the thread.
                let isPlain = url.isFileURL && File.hindrance(at: path) == nil
                (share, file) = (baton_curl_cookie_share(), isPlain ? path : nil)
            case .none: (share, file) = (nil, nil)
            }
        }

        /// To be called when no handle is left.
        func close() {
            if let share { curl_share_cleanup(share) }
        }

        /// libcurl 7.88 writes cookies while the head of a request has less than so many bytes. If there is no room for
        /// the first one, the head never ends; if there is none for all of them, the request's own cookies are left
        /// out.
        private static let longestHead = 8190
        /// libcurl takes no cookie with more than 4,096 bytes in name and value.
        private static let longestCookie = 4096 + 8

        /// Lets a handle send cookies and keep those that an answer sets, if that can be done.
        ///
        /// - Parameters:
        ///   - headLength: How many bytes of the head come before the cookies, at most.
        ///   - hasOwn: The request has a field `Cookie` of its own.
        /// - Complexity: O(1) in most cases; O(number of cookies) with own cookies or a long head.
        func serve(_ handle: CurlHandle, headLength: Int, hasOwn: Bool) {
            guard let share else { return }
            readFile(through: handle, into: share)
            handle.setShare(share)
            let isSafe = !hasOwn && headLength + Self.longestCookie < Self.longestHead
            guard isSafe || headLength + handle.cookieLength(ofAll: hasOwn) < Self.longestHead else {
                return handle.setShare(nil)
            }
            handle.set(CURLOPT_COOKIEFILE, "")
        }

        /// Once: the handle takes the cookies of the file into those that all share.
        private func readFile(through handle: CurlHandle, into share: UnsafeMutableRawPointer) {
            guard let file, !isRead else { return }
            isRead = true
            handle.setShare(share)
            handle.set(CURLOPT_COOKIEFILE, file)
            handle.set(CURLOPT_COOKIELIST, "RELOAD")
            // It would read the file once more. This also takes the handle's cookies away.
            handle.set(CURLOPT_COOKIEFILE, nil as String?)
        }

        /// An answer has set some: they are in the file when the handle is closed.
        func note(in handle: CurlHandle) {
            guard let file, let made = try? File.open(file, O_WRONLY | O_CREAT | O_CLOEXEC, mode: 0o600) else { return }
            // libcurl gives the file that it writes the rights of the one that is there.
            made.hide()
            made.close()
            handle.set(CURLOPT_COOKIEJAR, file)
        }
    }
#endif

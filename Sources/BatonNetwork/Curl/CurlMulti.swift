#if os(Linux)
    internal import CBatonCurl
    internal import Foundation

    /// A multi handle of libcurl: all transfers of a thread and their connections.
    struct CurlMulti: @unchecked Sendable {
        // @unchecked: threads other than the transport's only call `wake()`.
        private let multi: UnsafeMutableRawPointer
        /// The number of unused connections that are kept.
        private let keptCount: Int

        init(_ configuration: CurlTransport.Configuration) throws(CurlFailure) {
            Self.initialize
            guard let multi = baton_curl_make_multi() else { throw CurlFailure(reason: .tooManyOpenFiles) }
            self.multi = multi
            keptCount = max(1, min(configuration.idleConnections, Self.descriptorLimit / 2))
            // Without a descriptor through which it can be woken, the thread would sleep forever.
            if curl_multi_wakeup(multi) != CURLM_OK {
                baton_curl_free_multi(multi)
                throw CurlFailure(reason: .tooManyOpenFiles)
            }
            setKeptConnections(used: 0)
            if let count = configuration.connectionsPerHost { set(CURLMOPT_MAX_HOST_CONNECTIONS, max(1, count)) }
            if let count = configuration.connections { set(CURLMOPT_MAX_TOTAL_CONNECTIONS, max(1, count)) }
        }

        /// Initializes libcurl, once for the process, before anything else is called.
        private static let initialize: Void = { baton_curl_initialize() }()

        /// The largest number of descriptors that the process may have open.
        private static var descriptorLimit: Int {
            var limit = rlimit()
            guard getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit) == 0 else { return .max }
            return Int(clamping: limit.rlim_cur)
        }

        private func set(_ option: CURLMoption, _ value: Int) { _ = baton_curl_multi_set_long(multi, option, value) }

        /// Sets how many connections libcurl keeps. libcurl counts the used ones as well, so they are added.
        func setKeptConnections(used usedCount: Int) { set(CURLMOPT_MAXCONNECTS, keptCount + usedCount) }

        func wake() { curl_multi_wakeup(multi) }

        func add(_ handle: CurlHandle) { curl_multi_add_handle(multi, handle.pointer) }

        func remove(_ handle: CurlHandle) { curl_multi_remove_handle(multi, handle.pointer) }

        func perform() {
            var count: Int32 = 0
            curl_multi_perform(multi, &count)
        }

        /// Closes the connections that have been unused for a second.
        ///
        /// libcurl 7.88 has no function for that, but it looks for old connections when a transfer asks for one. The
        /// transfer of this method gets none, because its callback opens no socket.
        func closeUnusedConnections() {
            guard let handle = CurlHandle() else { return }
            handle.setNoConnection()
            add(handle)
            perform()
            remove(handle)
            handle.close()
        }

        func nextEnded() -> (CurlHandle, CURLcode)? {
            var code = CURLE_OK
            return baton_curl_next_ended(multi, &code).map { (CurlHandle(pointer: $0), code) }
        }

        /// Waits until a socket is ready, ``wake()`` is called, or the limit is reached.
        func wait(upTo limit: Duration?) {
            let milliseconds = limit.map { ($0 / .milliseconds(1)).rounded(.up) } ?? 3_600_000
            // If polling fails, a short sleep keeps the loop from taking a whole core.
            if curl_multi_poll(multi, nil, 0, Int32(min(max(milliseconds, 0), 3_600_000)), nil) != CURLM_OK {
                usleep(10_000)
            }
        }

        func close() { baton_curl_free_multi(multi) }
    }
#endif

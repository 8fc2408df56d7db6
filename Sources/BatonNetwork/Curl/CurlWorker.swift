#if os(Linux)
    internal import Baton
    internal import CBatonCurl
    internal import Foundation
    internal import FoundationNetworking

    /// The inbox of the thread that serves a transport. The thread begins with the first transfer, and ends when the
    /// worker is closed and no transfer is left.
    ///
    /// libcurl is called on that thread alone, but for `curl_multi_wakeup`, which is made for other threads. It is
    /// called under the lock, so that it cannot come after the thread has freed what it wakes.
    final class CurlWorker: Sendable {
        enum Order: Sendable {
            case start(CurlTransfer, HTTPRequestBody?, UploadQueue?)
            case cancel(CurlTransfer)
            case resumeReceiving(CurlTransfer)
            case resumeSending(CurlTransfer)
        }

        private struct State {
            var orders: [Order] = []
            /// What wakes the thread; nil while there is none.
            var multi: CurlMulti?
            var hasThread = false
            var isClosed = false

            mutating func put(_ order: Order) {
                // The thread takes all orders before it sleeps again.
                if orders.isEmpty { multi?.wake() }
                orders.append(order)
            }
        }

        private let configuration: CurlTransport.Configuration
        private let state = Locked(State())

        init(_ configuration: CurlTransport.Configuration) { self.configuration = configuration }

        // MARK: Orders, from any thread

        func start(_ transfer: CurlTransfer, _ body: HTTPRequestBody?, queue: UploadQueue?) {
            let startsThread = state.withLock { state -> Bool in
                state.put(.start(transfer, body, queue))
                if state.hasThread { return false }
                state.hasThread = true
                return true
            }
            if startsThread { startThread() }
        }

        /// To be told of a transfer that has ended, or was never started, is no harm.
        func cancel(_ transfer: CurlTransfer) { put(.cancel(transfer)) }

        func resumeReceiving(_ transfer: CurlTransfer) { put(.resumeReceiving(transfer)) }

        func resumeSending(_ transfer: CurlTransfer) { put(.resumeSending(transfer)) }

        private func put(_ order: Order) {
            state.withLock { if $0.hasThread { $0.put(order) } }
        }

        /// The thread ends when no transfer is left.
        func close() {
            state.withLock { state in
                state.isClosed = true
                state.multi?.wake()
            }
        }

        // MARK: The thread

        private func startThread() {
            let configuration = configuration
            let hasStarted = PosixThread.start("baton-curl") { [self] in
                Self.blockBrokenPipes()
                do throws(CurlFailure) {
                    let loop = try CurlLoop(configuration)
                    state.withLock { $0.multi = loop.multi }
                    loop.run { self.takeOrders(isIdle: $0) }
                } catch {
                    refuse(error.reason)
                }
            }
            if !hasStarted { refuse(.other(code: Int(EAGAIN), "no thread could be started")) }
        }

        /// A server that has gone is an error of its request. Some versions of libcurl leave the signal to the program,
        /// and some ways of OpenSSL to write cause one.
        private static func blockBrokenPipes() {
            var signals = sigset_t()
            sigemptyset(&signals)
            sigaddset(&signals, SIGPIPE)
            pthread_sigmask(SIG_BLOCK, &signals, nil)
        }

        /// Nil: the thread ends.
        private func takeOrders(isIdle: Bool) -> [Order]? {
            state.withLock { state in
                defer { state.orders = [] }
                if !isIdle || !state.isClosed || !state.orders.isEmpty { return state.orders }
                state.multi = nil
                state.hasThread = false
                return nil
            }
        }

        /// There is no thread. The next transfer tries to start one again.
        private func refuse(_ reason: HTTPError.Reason) {
            let orders = state.withLock { state in
                defer { state.orders = [] }
                state.hasThread = false
                return state.orders
            }
            for case .start(let transfer, _, let queue) in orders {
                queue?.close()
                transfer.end(HTTPError(reason, transfer.request))
            }
        }
    }

    /// Why the thread of a transport has nothing to work with.
    struct CurlFailure: Error {
        let reason: HTTPError.Reason
    }
#endif

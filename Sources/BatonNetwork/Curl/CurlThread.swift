#if os(Linux)
    internal import Baton
    internal import CBatonCurl
    internal import Foundation
    internal import FoundationNetworking

    /// The queue of commands for the thread of a transport. The thread starts with the first transfer, and ends when
    /// this object has been closed and no transfer is left.
    ///
    /// Only that thread calls libcurl, except for `curl_multi_wakeup`, which other threads may call. They call it under
    /// the lock, so that the thread cannot release the multi handle before the call.
    final class CurlThread: Sendable {
        enum Command: Sendable {
            case start(CurlTransfer, HTTPRequestBody?, UploadQueue?)
            case cancel(CurlTransfer)
            case resumeReceiving(CurlTransfer)
            case resumeSending(CurlTransfer)
            case checkLimits(CurlTransfer)
            case closeUnusedConnections
        }

        private struct State {
            var commands: [Command] = []
            /// The multi handle, through which other threads wake the thread; nil while there is no thread.
            var multi: CurlMulti?
            var hasThread = false
            var isClosed = false
            /// A Boolean value that indicates whether the commands contain `closeUnusedConnections`.
            var closesUnusedConnections = false

            mutating func put(_ command: Command) {
                // The thread takes all commands before it sleeps again, so the first command alone has to wake it.
                if commands.isEmpty { multi?.wake() }
                commands.append(command)
            }
        }

        /// The threads that run, of all transports of the process. Their connections share its descriptors.
        private static let running = Locked<[ObjectIdentifier: CurlThread]>([:])

        private let configuration: CurlTransport.Configuration
        private let state = Locked(State())

        init(_ configuration: CurlTransport.Configuration) { self.configuration = configuration }

        // MARK: Commands, from any thread

        func start(_ transfer: CurlTransfer, _ body: HTTPRequestBody?, queue: UploadQueue?) {
            let startsThread = state.withLock { state -> Bool in
                state.put(.start(transfer, body, queue))
                if state.hasThread { return false }
                state.hasThread = true
                return true
            }
            if startsThread { startThread() }
        }

        /// Cancels a transfer. If the transfer has ended, or was never started, the thread ignores the command.
        func cancel(_ transfer: CurlTransfer) { put(.cancel(transfer)) }

        func resumeReceiving(_ transfer: CurlTransfer) { put(.resumeReceiving(transfer)) }

        func resumeSending(_ transfer: CurlTransfer) { put(.resumeSending(transfer)) }

        func checkLimits(of transfer: CurlTransfer) { put(.checkLimits(transfer)) }

        /// Makes all transports of the process close the connections that have been unused for a second. It is called
        /// when a descriptor is missing.
        static func closeUnusedConnections() {
            let threads = running.withLock { Array($0.values) }
            for thread in threads {
                thread.state.withLock { state in
                    if !state.hasThread || state.closesUnusedConnections { return }
                    state.closesUnusedConnections = true
                    state.put(.closeUnusedConnections)
                }
            }
        }

        private func put(_ command: Command) {
            state.withLock { if $0.hasThread { $0.put(command) } }
        }

        /// Makes the thread end when no transfer is left.
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
                BrokenPipeSignal.block()
                do throws(CurlFailure) {
                    let loop = try CurlLoop(configuration)
                    state.withLock { $0.multi = loop.multi }
                    Self.running.withLock { $0[ObjectIdentifier(self)] = self }
                    loop.run { self.takeCommands(isIdle: $0) }
                } catch {
                    if error.reason == .tooManyOpenFiles { Self.closeUnusedConnections() }
                    refuse(error.reason)
                }
            }
            if !hasStarted { refuse(.other(code: Int(EAGAIN), "no thread could be started")) }
        }

        /// Returns the next commands, or nil if the thread has to end.
        private func takeCommands(isIdle: Bool) -> [Command]? {
            let commands = state.withLock { state -> [Command]? in
                defer { (state.commands, state.closesUnusedConnections) = ([], false) }
                if !isIdle || !state.isClosed || !state.commands.isEmpty { return state.commands }
                state.multi = nil
                state.hasThread = false
                return nil
            }
            // A thread ends only when its transport has been released, so no other thread has taken its place.
            if commands == nil { _ = Self.running.withLock { $0.removeValue(forKey: ObjectIdentifier(self)) } }
            return commands
        }

        /// Ends all transfers with an error, because there is no thread. The next transfer tries to start one again.
        private func refuse(_ reason: HTTPError.Reason) {
            let commands = state.withLock { state in
                defer { (state.commands, state.closesUnusedConnections) = ([], false) }
                state.hasThread = false
                return state.commands
            }
            for case .start(let transfer, _, let queue) in commands {
                queue?.close()
                transfer.end(HTTPError(reason, transfer.request))
            }
        }
    }

    /// The reason why the thread of a transport could not set up libcurl.
    struct CurlFailure: Error {
        let reason: HTTPError.Reason
    }
#endif

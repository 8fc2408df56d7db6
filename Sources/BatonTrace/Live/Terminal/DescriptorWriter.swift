internal import Foundation

/// Writes to a file descriptor, on a thread that may block, without ever getting the program killed.
enum DescriptorWriter {
    /// False: nobody reads it, or it cannot be written to.
    static func write(_ text: String, to descriptor: CInt) -> Bool {
        var text = text
        return text.withUTF8 { bytes in
            withoutBrokenPipeSignal {
                var rest = UnsafeRawBufferPointer(bytes)
                while !rest.isEmpty {
                    let count = Foundation.write(descriptor, rest.baseAddress, rest.count)
                    if count >= 0 {
                        rest = UnsafeRawBufferPointer(rebasing: rest.dropFirst(count))
                    } else if errno == EAGAIN || errno == EWOULDBLOCK {
                        // The program has made it non-blocking.
                        var room = pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)
                        _ = poll(&room, 1, -1)
                    } else if errno != EINTR {
                        return false
                    }
                }
                return true
            }
        }
    }

    /// A pipe without a reader sends SIGPIPE to the thread that writes. It is blocked meanwhile, for this thread alone,
    /// and one that came for this is taken away: the program's own handling is neither changed nor noticed.
    private static func withoutBrokenPipeSignal(_ body: () -> Bool) -> Bool {
        var pipe = sigset_t()
        var former = sigset_t()
        sigemptyset(&pipe)
        sigaddset(&pipe, SIGPIPE)
        let wasPending = isPending()
        guard pthread_sigmask(SIG_BLOCK, &pipe, &former) == 0 else { return false }
        let isWritten = body()
        if !isWritten, !wasPending, isPending() {
            var signal: CInt = 0
            sigwait(&pipe, &signal)
        }
        pthread_sigmask(SIG_SETMASK, &former, nil)
        return isWritten
    }

    private static func isPending() -> Bool {
        var pending = sigset_t()
        sigemptyset(&pending)
        return sigpending(&pending) == 0 && sigismember(&pending, SIGPIPE) == 1
    }
}

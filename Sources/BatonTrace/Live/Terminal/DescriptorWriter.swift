internal import Foundation

/// Writes to a file descriptor. The writing thread may block, but a broken pipe does not kill the program.
enum DescriptorWriter {
    /// Writes a text. Returns false if the reader is gone, or the write fails for another reason.
    static func write(_ text: String, to descriptor: CInt) -> Bool {
        var text = text
        return text.withUTF8 { bytes in
            withoutBrokenPipeSignal {
                var rest = UnsafeRawBufferPointer(bytes)
                while !rest.isEmpty {
                    let count = Foundation.write(descriptor, rest.baseAddress, rest.count)
                    if count == 0 {
                        // A device that takes nothing and reports no error would be asked forever.
                        return false
                    } else if count > 0 {
                        rest = UnsafeRawBufferPointer(rebasing: rest.dropFirst(count))
                    } else if errno == EAGAIN || errno == EWOULDBLOCK {
                        // The program has made the descriptor non-blocking.
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

    /// Runs `body` while SIGPIPE is blocked on the current thread.
    ///
    /// A write to a pipe without a reader sends SIGPIPE to the writing thread. A signal that became pending during
    /// `body` is consumed, so the program's handler for SIGPIPE is neither replaced nor called.
    private static func withoutBrokenPipeSignal(_ body: () -> Bool) -> Bool {
        var pipe = sigset_t()
        var former = sigset_t()
        sigemptyset(&pipe)
        sigaddset(&pipe, SIGPIPE)
        let wasPending = isPending()
        guard pthread_sigmask(SIG_BLOCK, &pipe, &former) == 0 else { return false }
        let isWritten = body()
        if !isWritten, !wasPending, isPending() {
            // Another thread may have taken the signal meanwhile if it was sent to the process, so this must not wait.
            #if canImport(Darwin)
                var signal: CInt = 0
                sigwait(&pipe, &signal)
            #else
                var atOnce = timespec()
                sigtimedwait(&pipe, nil, &atOnce)
            #endif
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

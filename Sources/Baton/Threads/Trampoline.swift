internal import CBaton

/// Does what would recurse through a whole graph in a loop instead: releasing operations that never ran, and cancelling
/// what runs inside one another. A call made while the thread is inside another one leaves its work to the outermost.
///
/// Without it a chain of 50,000 overflows the stack.
enum Trampoline {
    enum Work {
        /// Body, inputs and details of a dead operation.
        case release(AnyOperation.Remains)
        /// Calls `onCancel` handlers, which are user code and may cancel again.
        case cancelTask(Lane)
        case cancel([AnyOperation], CancellationReason)
    }

    /// Of one thread. `@exclusivity(unchecked)` spares the dynamic check, a fifth of a release: whatever is taken from it is
    /// performed, and released, after the access.
    private final class Backlog {
        @exclusivity(unchecked) private var work: [Work]

        init(_ work: consuming Work) { self.work = [work] }

        func append(_ more: consuming Work) { work.append(more) }

        func popLast() -> Work? { work.popLast() }
    }

    /// Marks a thread that is inside and has no backlog yet.
    nonisolated(unsafe) private static let inside = UnsafeMutableRawPointer(bitPattern: 1)!

    static func run(_ work: consuming Work) {
        if let word = baton_thread_word() {
            leave(consume work, word)
            return
        }
        baton_set_thread_word(inside)
        perform(consume work)
        while let word = baton_thread_word(), word != inside {
            let backlog = Unmanaged<Backlog>.fromOpaque(word)
            guard let next = backlog._withUnsafeGuaranteedRef({ $0.popLast() }) else {
                backlog.release()
                break
            }
            perform(next)
        }
        baton_set_thread_word(nil)
    }

    private static func leave(_ work: consuming Work, _ word: UnsafeMutableRawPointer) {
        if word == inside {
            baton_set_thread_word(Unmanaged.passRetained(Backlog(work)).toOpaque())
        } else {
            Unmanaged<Backlog>.fromOpaque(word).takeUnretainedValue().append(work)
        }
    }

    private static func perform(_ work: consuming Work) {
        switch consume work {
        case .release: break
        case .cancelTask(let lane): lane.cancelTaskNow()
        case .cancel(let operations, let reason):
            AnyOperation.cancel(operations, reason: reason) { $0.ownerWithdraws(reason) }
        }
    }
}

import BatonTesting
import Foundation

@testable import Baton
@testable import BatonTesting

/// Makes executors and notes each of their threads when it begins, and when it has nothing more to do.
struct Threads: Sendable {
    let began = EventLog<ThreadIdentity>()
    let ended = EventLog<ThreadIdentity>()
    let misuses = EventLog<Misuse>()

    /// The system refuses to give more than `limit` threads.
    func make(_ name: String? = nil, threads: Int, limit: Int = .max) -> ThreadExecutor {
        var left = limit
        return ThreadExecutor(name: name, threads: threads, onMisuse: { misuses($0) }) { [began, ended] name, body in
            if left == 0 { return false }
            left -= 1
            return PosixThread.start(name) {
                began(.current())
                body()
                ended(.current())
            }
        }
    }
}

/// Blocks threads until it is opened.
final class Barrier: @unchecked Sendable {
    // Guarded by the condition.
    private var missing: Int
    private let condition = NSCondition()

    /// Opens when so many threads block at once.
    init(threads: Int) { missing = threads }

    /// Opens by ``open()`` alone.
    convenience init() { self.init(threads: .max) }

    func block() {
        condition.withLock {
            missing -= 1
            if missing <= 0 { condition.broadcast() }
            while missing > 0 { condition.wait() }
        }
    }

    func open() {
        condition.withLock {
            missing = 0
            condition.broadcast()
        }
    }
}

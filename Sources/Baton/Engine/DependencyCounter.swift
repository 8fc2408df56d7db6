import Synchronization

/// Counts what keeps an operation from being ready: its unfinished sources, and the add that is still linking it to
/// them. The counter reaches zero once, and the thread that brings it there makes the operation ready.
///
/// It is lock-free, because each finishing source touches it once per edge; a lock here costs a chain a tenth of its
/// time. Every change is a read-modify-write of one word, so all changes have one order. A step that races with the
/// linking thread, and comes while the linking bit is set, leaves a flag that `linked` finds.
///
/// Memory ordering: each decrement releases what its thread did before (a source stored its output), and the one that
/// reaches zero acquires all of it, so a body that starts then sees every output. Steps that publish nothing are
/// relaxed.
struct DependencyCounter: ~Copyable {
    /// The state of the operation when the linking thread has linked it.
    struct Linked {
        /// True if nothing is left to wait for.
        let isReady: Bool
        /// True if the operation ended early, for example by a cancellation, while it was being linked. The linking
        /// thread finishes it.
        let wasEnded: Bool
        /// True if a dependent or a body began to wait for the operation while it was being linked, so a cycle may have
        /// been closed.
        let wasAwaited: Bool

        /// The result for an operation without dependencies that had ended when `linked` was called.
        static let endedWithoutLinks = Linked(isReady: true, wasEnded: true, wasAwaited: false)
    }

    /// A number larger than any number of sources, because sources may count down before `linked` says how many there
    /// are.
    private static let unknown: UInt32 = 1 << 27
    private static let linking: UInt32 = 1 << 28
    private static let ended: UInt32 = 1 << 29
    private static let awaited: UInt32 = 1 << 30
    private static let observed: UInt32 = 1 << 31
    /// The bits below the flags for an early end, for waits and for observers.
    private static let countMask = ended - 1

    private let word = Atomic<UInt32>(linking | unknown)

    /// Called before the operation is linked if it joins another one, which counts down in addition to the sources.
    borrowing func expectOneMore() { word.wrappingAdd(1, ordering: .relaxed) }

    /// Called when the operation is linked to this number of sources, each of which counts down or has done so. Sources
    /// that had finished before are not among them.
    @inline(__always)
    borrowing func linked(to sources: Int) -> Linked {
        assert(sources < Self.unknown, "More sources would change the flags.")
        let (old, now) = word.wrappingSubtract(
            Self.linking + Self.unknown - UInt32(sources), ordering: .acquiringAndReleasing)
        assert(old & Self.linking != 0, "An operation is linked once.")
        return Linked(
            isReady: now & Self.countMask == 0,
            wasEnded: now & Self.ended != 0,
            wasAwaited: now & Self.awaited != 0
        )
    }

    /// The result of counting down.
    enum CountDownResult {
        /// There is more to wait for.
        case waiting
        /// There is nothing left to wait for, and the caller makes the operation ready.
        case ready
        /// There is nothing left to wait for, but the operation has ended before. The caller releases the queue's
        /// reference to it.
        case ended
    }

    /// Called when a source has finished, or is not waited for any more.
    @inline(__always)
    borrowing func countDown() -> CountDownResult {
        let (old, now) = word.wrappingSubtract(1, ordering: .acquiringAndReleasing)
        assert(old & Self.countMask != 0, "Everything that is counted counts down once.")
        if now & Self.countMask != 0 { return .waiting }
        return now & Self.ended == 0 ? .ready : .ended
    }

    /// Adds one, which the caller counts down again, unless nothing is left to wait for. Returns true if it was added:
    /// until the caller counts down, no other thread can bring the counter to zero.
    borrowing func holdUnlessZero() -> Bool {
        var now = word.load(ordering: .relaxed)
        while now & Self.countMask != 0 {
            let (isHeld, found) = word.compareExchange(
                expected: now, desired: now + 1, ordering: .acquiringAndReleasing)
            if isHeld { return true }
            now = found
        }
        return false
    }

    /// Marks the operation as ended, so that the thread that counts down to zero finds the mark. Returns true if the
    /// linking thread will find it and finish the operation; otherwise the caller finishes it.
    borrowing func leaveEndToLinking() -> Bool {
        word.bitwiseOr(Self.ended, ordering: .acquiringAndReleasing).oldValue & Self.linking != 0
    }

    /// Notes that a dependent has registered, or that a body waits. After linking there is nothing to note, because the
    /// dependent or the body searches for cycles itself, and does so later.
    @inline(__always)
    borrowing func noteAwaited() {
        if word.load(ordering: .relaxed) & Self.linking != 0 {
            word.bitwiseOr(Self.awaited, ordering: .acquiringAndReleasing)
        }
    }

    /// True if the operation has been linked.
    @inline(__always)
    var isLinked: Bool { word.load(ordering: .relaxed) & Self.linking == 0 }

    /// Notes that the operation is observed. The flag is in this word because the word has a free bit, and is in cache
    /// wherever an event may have to be sent.
    borrowing func noteObserved() { word.bitwiseOr(Self.observed, ordering: .relaxed) }

    /// True if the operation is observed. The load can be relaxed, because the events themselves are guarded by the
    /// operation's lock.
    @inline(__always)
    var isObserved: Bool { word.load(ordering: .relaxed) & Self.observed != 0 }

    /// True if nothing is left to wait for.
    var isZero: Bool { word.load(ordering: .acquiring) & Self.countMask == 0 }
}

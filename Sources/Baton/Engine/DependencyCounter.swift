import Synchronization

/// Counts down what keeps an operation from being ready: its unfinished sources, and the add that is still linking it
/// to them. Reaching zero happens once, and whoever brings it there makes the operation ready.
///
/// Lock-free, because it is touched once per edge by whatever finishes; a lock here costs a chain a tenth of its time.
/// Everything is a read-modify-write of one word, so there is one order of all steps, and the two races with the
/// linking thread end the same way: who comes while the linking bit is set leaves a flag, and `linked` finds it.
///
/// Ordering: each step releases what its thread did before (a source stored its output) and the one that reaches zero
/// acquires it all, so a body that starts then sees every output.
struct DependencyCounter: ~Copyable {
    /// What the linking thread finds when its links are made.
    struct Linked {
        /// Nothing is left to wait for.
        let isReady: Bool
        /// A cancel or another early end came while it was linking and left the finish to it.
        let wasEnded: Bool
        /// Somebody began to wait for it while it was linking, a dependent or a body: a cycle may have been closed.
        let wasAwaited: Bool

        /// Of an operation without dependencies, when `linked` has been called and this was found.
        static let endedWithoutLinks = Linked(isReady: true, wasEnded: true, wasAwaited: false)
    }

    /// More than there can be sources: they may count down before `linked` says how many there are.
    private static let unknown: UInt32 = 1 << 27
    private static let linking: UInt32 = 1 << 28
    private static let ended: UInt32 = 1 << 29
    private static let awaited: UInt32 = 1 << 30
    private static let observed: UInt32 = 1 << 31

    private let word = Atomic<UInt32>(linking | unknown)

    /// Before the links are made: somebody else will count down, besides the sources.
    borrowing func expectOneMore() { word.wrappingAdd(1, ordering: .relaxed) }

    /// The links are made, to so many sources: each will count down, or has. Those that had finished before do not.
    @inline(__always)
    borrowing func linked(to sources: Int) -> Linked {
        let now = word.wrappingSubtract(
            Self.linking + Self.unknown - UInt32(sources), ordering: .acquiringAndReleasing
        ).newValue
        return Linked(
            isReady: now & (Self.ended - 1) == 0,
            wasEnded: now & Self.ended != 0,
            wasAwaited: now & Self.awaited != 0
        )
    }

    /// What a step down has led to.
    enum Step {
        /// There is more to wait for.
        case waiting
        /// That was the last thing to wait for.
        case ready
        /// That was the last thing to wait for, and the operation has ended before: whoever finds this lets go of it.
        case ended
    }

    /// One source has finished, or does not count any more.
    @inline(__always)
    borrowing func countDown() -> Step {
        let now = word.wrappingSubtract(1, ordering: .acquiringAndReleasing).newValue
        if now & (Self.ended - 1) != 0 { return .waiting }
        return now & Self.ended == 0 ? .ready : .ended
    }

    /// Counts one more, which the caller counts down again, unless nothing is left to wait for. True: until then nobody
    /// else brings the count to zero.
    borrowing func holdUnlessZero() -> Bool {
        var now = word.load(ordering: .relaxed)
        while now & (Self.ended - 1) != 0 {
            let (isHeld, found) = word.compareExchange(
                expected: now, desired: now + 1, ordering: .acquiringAndReleasing)
            if isHeld { return true }
            now = found
        }
        return false
    }

    /// From here on whoever counts down to zero finds that the operation has ended. True: the linking thread will find
    /// the mark and finish the operation; else that is the caller's to do.
    borrowing func leaveEndToLinking() -> Bool {
        word.bitwiseOr(Self.ended, ordering: .acquiringAndReleasing).oldValue & Self.linking != 0
    }

    /// A dependent has registered, or a body waits. After linking there is nothing to tell: their own search comes
    /// later.
    @inline(__always)
    borrowing func noteAwaited() {
        if word.load(ordering: .relaxed) & Self.linking != 0 {
            word.bitwiseOr(Self.awaited, ordering: .acquiringAndReleasing)
        }
    }

    /// The links are made.
    @inline(__always)
    var isLinked: Bool { word.load(ordering: .relaxed) & Self.linking == 0 }

    /// Somebody observes the operation. Here because the word is at hand wherever something is to be told, and has
    /// room.
    borrowing func noteObserved() { word.bitwiseOr(Self.observed, ordering: .relaxed) }

    /// What is to be told is under the operation's lock, so that nothing depends on the order of this.
    @inline(__always)
    var isObserved: Bool { word.load(ordering: .relaxed) & Self.observed != 0 }

    /// For explanations: nothing is left to wait for.
    var isZero: Bool { word.load(ordering: .acquiring) & (Self.ended - 1) == 0 }
}

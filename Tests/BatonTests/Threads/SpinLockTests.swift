import Synchronization
import Testing

@testable import Baton

@Suite struct SpinLockTests {
    @Test func onlyOneAtATime() async {
        let counter = Counter()
        await withTaskGroup { group in
            for _ in 0..<4 {
                group.addTask { @concurrent in for _ in 0..<20_000 { counter.change { $0 += 1 } } }
            }
        }
        #expect(counter.count == 80_000)
    }

    /// The lock is held so long that the waiting thread sleeps between its attempts.
    @Test("A thread that waits for a lock that is held for long gets it afterwards")
    func whoeverComesWhileItIsHeldForLongGetsItAfterwards() async {
        let counter = Counter()
        let flag = Flag()
        await withTaskGroup { group in
            group.addTask { @concurrent in
                counter.change { count in
                    flag.isHeld.store(true, ordering: .releasing)
                    let start = ContinuousClock.now
                    while ContinuousClock.now - start < .milliseconds(2) {}
                    count += 1
                }
            }
            group.addTask { @concurrent in
                while !flag.isHeld.load(ordering: .acquiring) { await Task.yield() }
                counter.change { $0 *= 10 }
            }
        }
        #expect(counter.count == 10)
    }

    @Test func anErrorReleasesTheLock() {
        struct Failure: Error {}
        let counter = Counter()
        #expect(throws: Failure.self) { try counter.fail(with: Failure()) }
        #expect(counter.count == 0)
    }
}

private final class Counter: @unchecked Sendable {
    // This class is safe because the lock guards the number, which is what the test checks.
    private let lock = SpinLock()
    private var number = 0

    var count: Int { lock.withLock { number } }

    func change(_ step: (inout Int) -> Void) { lock.withLock { step(&number) } }

    func fail(with error: some Error) throws { try lock.withLock { throw error } }
}

private final class Flag: Sendable {
    let isHeld = Atomic<Bool>(false)
}

import Testing

@testable import Baton

/// True if this program was built with assertions.
private let hasAssertions: Bool = {
    var isOn = false
    assert({ isOn = true }() == ())
    return isOn
}()

@Suite struct SpinLockInterleavingTests {
    #if !canImport(Darwin)
        private final class Scenario {
            private let lock = SpinLock()
            /// The threads that are between a successful `take()` and their `release()`.
            private var holders: Set<Int> = []
            private var count = 0
            private(set) var mostHolders = 0
            private(set) var entries = 0

            var isCountedRight: Bool { count == entries }
            var isFree: Bool { lock.take() }

            /// Takes the lock, increases the count in two steps, and releases the lock.
            ///
            /// - Parameter attempts: How often the thread tries to take the lock before it gives up.
            func thread(_ number: Int, attempts: Int) -> Steps {
                let steps = Steps()
                tryToTake(number, attempts, steps)
                return steps
            }

            private func tryToTake(_ number: Int, _ attempts: Int, _ steps: Steps) {
                if attempts == 0 { return }
                steps.append { [self] in
                    guard lock.take() else { return tryToTake(number, attempts - 1, steps) }
                    entries += 1
                    holders.insert(number)
                    mostHolders = max(mostHolders, holders.count)
                    let old = count
                    steps.append { [self] in
                        count = old + 1
                        holders.remove(number)
                        steps.append { [self] in lock.release() }
                    }
                }
            }
        }

        @Test("Of several threads, at most one holds the lock, and no change under the lock is lost", arguments: 1...3)
        func exclusion(threads: Int) {
            exploreInterleavings {
                let scenario = Scenario()
                return (
                    (0..<threads).map { scenario.thread($0, attempts: 2) },
                    { order in
                        #expect(scenario.mostHolders == 1, "\(order)")
                        #expect(scenario.isCountedRight, "\(order)")
                        #expect(scenario.isFree, "The last holder has released the lock: \(order)")
                    }
                )
            }
        }

        @Test("A thread that takes the lock before or after another one holds it gets it, and no other thread does")
        func release() {
            exploreInterleavings {
                let scenario = Scenario()
                return (
                    [scenario.thread(0, attempts: 1), scenario.thread(1, attempts: 1)],
                    { order in
                        // A thread that gets the lock makes three steps, and one that does not a single one.
                        let isInTurn = order == [0, 0, 0, 1, 1, 1] || order == [1, 1, 1, 0, 0, 0]
                        #expect(scenario.entries == (isInTurn ? 2 : 1), "\(order)")
                    }
                )
            }
        }
    #endif

    @Test("Taking a lock twice on one thread is a failed assertion, and does not hang", .enabled(if: hasAssertions))
    func recursion() async {
        await #expect(processExitsWith: .failure) {
            let lock = SpinLock()
            lock.withLock { lock.withLock {} }
        }
        await #expect(processExitsWith: .failure) {
            let operation = AsyncOperation {}
            operation.withLifecycle { _ in _ = operation.state }
        }
    }

    @Test("Taking a lock while another one is held is a failed assertion", .enabled(if: hasAssertions))
    func nesting() async {
        await #expect(processExitsWith: .failure) {
            let one = SpinLock()
            let other = Locked(0)
            one.withLock { other.withLock { $0 += 1 } }
        }
    }
}

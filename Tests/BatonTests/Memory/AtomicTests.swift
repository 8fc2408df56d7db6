import Testing

@testable import Baton

// The classes contain the atomics, because closures cannot capture what cannot be copied.

@Suite struct AtomicTests {
    private final class Flag {
        let flag = AtomicFlag()
        var winners: [Int] = []

        var isSet: Bool { flag.isSet }
    }

    @Test("All orders of the steps of several threads are explored")
    func interleavings() {
        var orders: Set<[Int]> = []
        let count = exploreInterleavings {
            ([Steps({}, {}), Steps({}, {}, {}), Steps({})], { orders.insert($0) })
        }
        #expect(count == 60 && orders.count == 60)
    }

    @Test("A step can append further steps")
    func furtherSteps() {
        let count = exploreInterleavings {
            let one = Steps()
            one.append { one.append {} }
            return ([one, Steps({})], { #expect($0.count == 3) })
        }
        #expect(count == 3)
    }

    @Test("Of several threads that set a flag, one has set it first")
    func firstSetter() {
        exploreInterleavings {
            let state = Flag()
            let threads = (0..<4).map { number in
                Steps({ if state.flag.setIfUnset() { state.winners.append(number) } })
            }
            return (threads, { #expect(state.winners == [$0[0]] && state.isSet) })
        }
    }

    @Test("A flag and a hint store what was written last")
    func plainValues() {
        let flag = AtomicFlag(true)
        var isSet = flag.isSet
        #expect(isSet)
        flag.isSet = false
        isSet = flag.isSet
        #expect(!isSet)

        let hint = AtomicHint<UInt8>(3)
        var value = hint.value
        #expect(value == 3)
        hint.value = .max
        value = hint.value
        #expect(value == .max)

        let reference = AtomicReference<AnyOperation>()
        var object = reference.object
        #expect(object == nil)
        let operation = AsyncOperation {}
        reference.object = operation
        object = reference.object
        #expect(object === operation)
    }

    // MARK: Numbers

    private final class Numbers {
        let generator = NumberGenerator()
        let maximum = AtomicMaximum(0)
        var highest: UInt8 { maximum.value }
        var found: [UInt64] = []
        var raised: [UInt8] = []
    }

    @Test("No number is given twice, and numbers begin at 1")
    func numbers() {
        exploreInterleavings {
            let state = Numbers()
            let take = { state.found.append(state.generator.next()) }
            return ([Steps(take, take), Steps(take, take)], { _ in #expect(state.found == [1, 2, 3, 4]) })
        }
    }

    @Test("A maximum never decreases, and tells one of the threads that it has grown")
    func maximum() {
        exploreInterleavings {
            let state = Numbers()
            func raise(to value: UInt8) -> Steps {
                Steps({ if state.maximum.raise(to: value) { state.raised.append(value) } })
            }
            return (
                [raise(to: 1), raise(to: 2), raise(to: 2), raise(to: 1)],
                { _ in
                    #expect(state.highest == 2)
                    #expect(state.raised == [2] || state.raised == [1, 2])
                }
            )
        }
    }

    // MARK: Idleness

    /// A queue with its registry, whose workers hold the queue until they have released the operation that they run.
    private final class IdleQueue {
        let holds = HoldCounter()
        var registered = 2
        var alive = 2
        var isWaiting = false
        /// The number of operations that were alive when the waiting task was resumed.
        var aliveAtResumption: [Int] = []

        /// Everything that a thread does under the lock.
        func resumeIfIdle() {
            guard isWaiting, registered == 0, holds.isZero else { return }
            isWaiting = false
            aliveAtResumption.append(alive)
        }
    }

    /// Returns the numbers of operations that were alive at the resumption, each once, over all orders.
    private func explore(holdsBeforeRemoval: Bool) -> (resumptions: Set<Int>, alive: Set<Int>) {
        var resumptions: Set<Int> = []
        var alive: Set<Int> = []
        exploreInterleavings {
            let queue = IdleQueue()
            func worker() -> Steps {
                let hold = { queue.holds.begin() }
                let remove = {
                    queue.registered -= 1
                    queue.resumeIfIdle()
                }
                let steps = holdsBeforeRemoval ? Steps(hold, remove) : Steps(remove, hold)
                steps.append { queue.alive -= 1 }
                steps.append { if queue.holds.end() { steps.append { queue.resumeIfIdle() } } }
                return steps
            }
            let waiter = Steps({
                queue.isWaiting = true
                queue.resumeIfIdle()
            })
            return (
                [worker(), worker(), waiter],
                { _ in
                    resumptions.insert(queue.aliveAtResumption.count)
                    alive.formUnion(queue.aliveAtResumption)
                }
            )
        }
        return (resumptions, alive)
    }

    @Test("Whoever waits for idleness is resumed once, after the last hold, when no operation is alive")
    func idleness() {
        let found = explore(holdsBeforeRemoval: true)
        #expect(found.resumptions == [1])
        #expect(found.alive == [0])
    }

    @Test("The exploration finds that a hold has to begin before the operation is removed")
    func lateHold() {
        #expect(explore(holdsBeforeRemoval: false).alive.contains { $0 > 0 })
    }

    // MARK: Versions

    private final class Graph {
        let hasReader = AtomicFlag()
        let version = VersionCounter()
        var isChanged = false
    }

    /// Returns true if a reader can miss a change and still find the same version afterwards.
    private func missesChange(countsAfterChange: Bool) -> Bool {
        var isMissed = false
        exploreInterleavings {
            let graph = Graph()
            var (known, seen): (UInt64?, Bool?) = (nil, nil)
            let reader = Steps(
                { graph.hasReader.isSet = true },
                { known = graph.version.current },
                { seen = graph.isChanged })
            let change = { graph.isChanged = true }
            let writer = Steps()
            let count = {
                let isCounted = graph.hasReader.isSet
                writer.append { if isCounted { graph.version.advance() } }
            }
            if countsAfterChange {
                writer.append(change)
                writer.append(count)
            } else {
                writer.append(count)
                writer.append(change)
            }
            return ([reader, writer], { _ in if seen == false, known == graph.version.current { isMissed = true } })
        }
        return isMissed
    }

    @Test("A reader that misses a change finds another version afterwards")
    func versions() { #expect(!missesChange(countsAfterChange: true)) }

    @Test("The exploration finds that a change has to be counted after it was made")
    func earlyCount() { #expect(missesChange(countsAfterChange: false)) }

    // MARK: Interning

    /// The steps of ``InternTable/find(_:)`` for one slot. The table itself cannot be stopped between two of them.
    @Test("All threads that intern equal values get one object, and the others that were made are released")
    func interning() {
        exploreInterleavings {
            var slot: Int?
            var found: [Int] = []
            var released: [Int] = []
            let threads = (0..<3).map { number in
                let steps = Steps()
                steps.append {
                    if let object = slot { return found.append(object) }
                    steps.append {
                        if let other = slot {
                            released.append(number)
                            found.append(other)
                        } else {
                            slot = number
                            found.append(number)
                        }
                    }
                }
                return steps
            }
            return (
                threads,
                { order in
                    #expect(found.count == 3 && Set(found).count == 1, "\(order)")
                    #expect(!released.contains(found[0]))
                }
            )
        }
    }
}

import Testing

@testable import Baton

@Suite struct ReadyQueuesTests {
    private final class Harness {
        var lines = ReadyQueues()
        /// Retains the operations, because the lists do not.
        private var operations: [AnyOperation] = []

        private func make(_ name: String) -> Unretained<AnyOperation> {
            let operation = AsyncOperation(name) {}
            operations.append(operation)
            return Unretained(operation)
        }

        func add(_ names: [String], by order: SchedulingOrder = .depthFirst) {
            for name in names { lines.append(make(name), at: .normal, by: order) }
        }

        func release(_ names: String..., passes: Bool = true) {
            if names.count == 1 { return lines.append(released: make(names[0]), at: .normal, passes: passes) }
            var batch = PriorityRunQueue<IntrusiveList>()
            for name in names { batch.append(make(name), at: .normal) }
            lines.append(released: batch, passes: passes)
        }

        func pop() -> String? {
            lines.popFirst(at: .normal)?.object.name
        }

        func popAll() -> [String] {
            var all: [String] = []
            while let next = pop() { all.append(next) }
            return all
        }
    }

    private func numbers(_ range: Range<Int>) -> [String] { range.map { "\($0)" } }

    @Test func releasedOnesComeFirst() {
        let rig = Harness()
        rig.add(["a", "b"])
        rig.release("c", "d")
        rig.release("e", "f")
        rig.release("g", passes: false)
        #expect(rig.popAll() == ["e", "f", "c", "d", "g", "a", "b"])
        #expect(rig.lines.filled.isEmpty)
    }

    @Test func sixteenInARowPassThoseThatWereReadyBefore() {
        let rig = Harness()
        rig.add(["a", "b"])
        for number in numbers(0..<40) { rig.release(number, passes: false) }
        #expect(rig.popAll() == numbers(0..<16) + ["a"] + numbers(16..<32) + ["b"] + numbers(32..<40))
    }

    @Test func sixteenInARowPassThoseThatWereReleasedBefore() {
        let rig = Harness()
        rig.release("old", "older")
        var ran: [String] = []
        for number in numbers(0..<40) {
            rig.release(number)
            ran.append(rig.pop()!)
        }
        #expect(ran[..<16] == numbers(0..<16)[...])
        // The seventeenth operation was placed at the end.
        #expect(ran[16] == "old")
        #expect(ran.contains("older"))
    }

    @Test func operationsThatAWorkerContinuedWithCount() {
        let rig = Harness()
        rig.add(["a"])
        rig.release("old")
        #expect(rig.lines.inlineBudget == 16)
        rig.lines.noteStarts(ofReleased: 16)
        #expect(rig.lines.inlineBudget == 0)
        rig.release("new")
        #expect(rig.popAll() == ["a", "old", "new"])
        #expect(rig.lines.inlineBudget == 16)
    }

    @Test func theLastComesFirstIfTheQueueWantsThat() {
        let rig = Harness()
        rig.add(["a", "b", "c"], by: .lastInFirstOut)
        #expect(rig.popAll() == ["c", "b", "a"])
        rig.add(["a", "b", "c"], by: .firstInFirstOut)
        #expect(rig.popAll() == ["a", "b", "c"])
    }
}

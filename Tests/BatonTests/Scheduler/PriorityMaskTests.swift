import Testing

@testable import Baton

@Suite struct PriorityMaskTests {
    @Test func aLineForEachPriority() {
        var lines = PriorityRunQueue<FIFOQueue<Int>>()
        #expect(lines.isEmpty)
        for number in 0..<2 {
            for priority in OperationPriority.allCases {
                lines.append(10 * Int(priority.rawValue) + number, at: priority)
            }
        }
        for priority in OperationPriority.allCases.reversed() {
            #expect(lines.filled.highest == priority)
            #expect(lines.popFirst(at: priority) == 10 * Int(priority.rawValue))
            #expect(lines.filled.contains(priority))
            #expect(lines.popFirst(at: priority) == 10 * Int(priority.rawValue) + 1)
            #expect(!lines.filled.contains(priority))
            #expect(lines.popFirst(at: priority) == nil)
        }
        #expect(lines.isEmpty)
    }

    @Test func theHighestOfEverySet() {
        for bits in 0..<32 {
            var set = PriorityMask()
            let members = OperationPriority.allCases.filter { bits & 1 << Int($0.rawValue) != 0 }
            for member in members { set.insert(member) }
            #expect(set.highest == members.max())
            #expect(set.isEmpty == members.isEmpty)
            for priority in OperationPriority.allCases {
                #expect(set.contains(priority) == members.contains(priority))
            }
        }
    }

    @Test func insertingAndRemovingTwiceIsOnce() {
        var set = PriorityMask()
        set.insert(.low)
        set.insert(.low)
        set.insert(.high)
        set.remove(.high)
        set.remove(.high)
        #expect(set.highest == .low)
        set.remove(.low)
        #expect(set.isEmpty)
    }

    @Test func aUnionHasBoth() {
        var low = PriorityMask()
        low.insert(.low)
        var high = PriorityMask()
        high.insert(.high)
        let both = low.union(high)
        #expect(both.contains(.low) && both.contains(.high) && !both.contains(.normal))
    }
}

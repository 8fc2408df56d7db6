import Testing

@testable import Baton

@Suite struct EdgesTests {
    private let operations = (0..<4).map { AsyncOperation("\($0)") {} as AnyOperation }

    @Test(arguments: 0...4) func edgesKeepTheOrderInWhichTheyCame(count: Int) {
        var edges = Edges.none
        for operation in operations[..<count] { edges.append(operation) }
        #expect(edges.all.elementsEqual(operations[..<count], by: ===))
        #expect(edges.isEmpty == (count == 0))
        #expect(Edges(Array(operations[..<count])).all.elementsEqual(operations[..<count], by: ===))
    }

    /// As often as it was added, but not where it is an input.
    @Test(arguments: [[], [0], [0, 1], [0, 0], [0, 1, 0, 2, 0], [1, 0, 0, 2, 3], [3, 2, 1, 0]]) func edgesAreRemoved(
        numbers: [Int]
    ) {
        for inputCount in 0...numbers.count {
            for removed in 0..<4 {
                var edges = Edges(numbers.map { operations[$0] })
                let inputs = Array(numbers[..<inputCount])
                let kept: [Int] = inputs + numbers[inputCount...].filter { $0 != removed }
                let expected: [AnyOperation] = kept.map { operations[$0] }
                edges.remove(operations[removed], afterFirst: inputCount)
                let isAsExpected = edges.all.elementsEqual(expected, by: ===)
                #expect(isAsExpected)
                #expect(edges.isEmpty == expected.isEmpty)
                let isInput: Bool = edges.contains(operations[removed], inFirst: inputCount)
                #expect(isInput == inputs.contains(removed))
            }
        }
    }

    @Test(arguments: 0...4) func dependentsAreAllVisitedInOrder(count: Int) {
        var dependents = Dependents.none
        for operation in operations[..<count] { dependents.append(.passUnretained(operation)) }
        var visited: [AnyOperation] = []
        dependents.visit { visited.append($0.takeUnretainedValue()) }
        #expect(visited.elementsEqual(operations[..<count], by: ===))
        #expect(dependents.retained().elementsEqual(operations[..<count], by: ===))
        #expect(dependents.count == count)
        #expect(dependents.isEmpty == (count == 0))
    }

    @Test func oneOrNoneNeedsNoArray() {
        #expect(MemoryLayout<Edges>.size == MemoryLayout<Int>.size)
        #expect(MemoryLayout<Dependents>.size == MemoryLayout<Int>.size)
        guard case .one = Edges([operations[0]]) else {
            Issue.record()
            return
        }
    }
}

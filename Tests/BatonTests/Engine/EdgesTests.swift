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

import Testing

@testable import Baton

@Suite struct DependencyListTests {
    private let operations = (0..<4).map { AsyncOperation("\($0)") {} as AnyOperation }

    @Test(arguments: 0...4) func edgesKeepTheOrderInWhichTheyCame(count: Int) {
        var edges = DependencyList()
        for operation in operations[..<count] { edges.append(operation) }
        // `#expect` cannot capture parts of noncopyable values.
        let (all, isEmpty, made) = (edges.all, edges.isEmpty, DependencyList(Array(operations[..<count])).all)
        #expect(all.elementsEqual(operations[..<count], by: ===))
        #expect(isEmpty == (count == 0))
        #expect(made.elementsEqual(operations[..<count], by: ===))
    }

    /// A source is removed as often as it was added. Each removed source leaves a hole.
    @Test(arguments: [[], [0], [0, 1], [0, 0], [0, 1, 0, 2, 0], [1, 0, 0, 2, 3], [3, 2, 1, 0]]) func edgesAreRemoved(
        numbers: [Int]
    ) {
        for removed in 0..<4 {
            var edges = DependencyList(numbers.map { operations[$0] })
            for (place, number) in numbers.enumerated() where number == removed {
                let source = edges.removeSource(at: place)
                #expect(source === operations[removed])
            }
            let kept = numbers.filter { $0 != removed }.map { operations[$0] }
            let isAsExpected = edges.all.elementsEqual(kept, by: ===)
            edges.removeHoles()
            let (isEmpty, count) = (edges.isEmpty, edges.placeCount)
            #expect(isAsExpected)
            #expect(isEmpty == kept.isEmpty)
            #expect(count == kept.count)
        }
    }

    @Test func aBlockGrows() {
        var edges = DependencyList()
        let many = (0..<100).map { operations[$0 % 4] }
        for operation in many { edges.append(operation) }
        let all = edges.all
        #expect(all == many)
    }

    @Test("A block that grows keeps its holes")
    func holesStay() {
        var edges = DependencyList(Array(operations[..<3]))
        _ = edges.removeSource(at: 1)
        for _ in 0..<20 { edges.append(operations[3]) }
        let sources = (0..<4).map { edges.source(at: $0)?.object }
        let count = edges.placeCount
        #expect(sources == [operations[0], nil, operations[2], operations[3]])
        #expect(count == 23)
    }

    /// A dependent is in the list either itself or with one of its places.
    @Test(arguments: 0...4, [[], [0], [1, 3], [0, 1, 2, 3]]) func dependentsAreAllVisitedInOrder(
        count: Int, withBlocks: [Int]
    ) {
        var dependents = DependentList()
        var blocks: [DependencyBlock] = []
        for (number, operation) in operations[..<count].enumerated() {
            let dependent = Unretained(operation)
            if withBlocks.contains(number) {
                let block = DependencyBlock.make(operations)
                blocks.append(block)
                var places: [DependentList.Place] = []
                block.enter(dependent) { place, _ in places.append(place) }
                dependents.append(places[number])
            } else {
                dependents.append(DependentList.Place(dependent))
            }
        }
        var visited: [AnyOperation] = []
        dependents.visit { visited.append($0.object) }
        #expect(visited.elementsEqual(operations[..<count], by: ===))
        #expect(dependents.retained().elementsEqual(operations[..<count], by: ===))
        #expect(dependents.count == count)
        #expect(dependents.isEmpty == (count == 0))
    }

    @Test func visitedDependentsMayBeUnlinked() {
        var dependents = DependentList()
        var links: [DependentList.Place?] = []
        for operation in operations { dependents.append(DependentList.Place(Unretained(operation))) }
        dependents.visit { dependent in
            dependent.use { operation in
                links.append(operation.next)
                operation.next = nil
            }
        }
        #expect(links.count == 4)
    }

    @Test(
        "Any dependent can be removed from the list, and the others keep their order", arguments: 1...4, [[], [0, 2]])
    func dependentsLeave(count: Int, withBlocks: [Int]) {
        for first in 0..<count {
            for second in 0..<count {
                var dependents = DependentList()
                var blocks: [DependencyBlock] = []
                var places: [DependentList.Place] = []
                for (number, operation) in operations[..<count].enumerated() {
                    let dependent = Unretained(operation)
                    var place = DependentList.Place(dependent)
                    if withBlocks.contains(number) {
                        let block = DependencyBlock.make(operations)
                        blocks.append(block)
                        block.enter(dependent) { found, source in
                            if source == dependent { place = found }
                        }
                    }
                    places.append(place)
                    dependents.append(place)
                }
                dependents.remove(places[first])
                if second != first { dependents.remove(places[second]) }
                var rest = (0..<count).filter { $0 != first && $0 != second }
                #expect(dependents.retained() == rest.map { operations[$0] })
                dependents.append(places[first])
                rest.append(first)
                #expect(dependents.retained() == rest.map { operations[$0] })
                for number in rest { dependents.remove(places[number]) }
                #expect(dependents.isEmpty)
                withExtendedLifetime(blocks) {}
            }
        }
    }

    @Test("A list can tell whether all of its dependents are in a given set")
    func knownDependents() {
        var dependents = DependentList()
        for operation in operations[..<3] { dependents.append(DependentList.Place(Unretained(operation))) }
        #expect(dependents.areAll(in: Set(operations.map { ObjectIdentifier($0) })))
        #expect(!dependents.areAll(in: Set(operations[1...].map { ObjectIdentifier($0) })))
        #expect(DependentList().areAll(in: []))
    }

    @Test("Linked dependents are visited with their places, and a block releases its sources when it is dropped")
    func linkedEdges() {
        weak var source: AnyOperation?
        var dependents = DependentList()
        var edges: DependencyList
        do {
            let operation = AsyncOperation {}
            source = operation
            edges = DependencyList([operation, operation])
        }
        #expect(source != nil)
        edges.enter(Unretained(operations[0])) { place, _ in dependents.append(place) }
        let twice = [operations[0], operations[0]]
        #expect(dependents.retained() == twice)
        edges.visit(of: Unretained(operations[0])) { place, _ in dependents.remove(place) }
        #expect(dependents.isEmpty)
        edges.drop()
        #expect(source == nil)
        let isEmpty = edges.isEmpty
        #expect(isEmpty)
    }

    @Test func atMostOneDependencyNeedsNoBlock() {
        #expect(MemoryLayout<DependencyList>.size == MemoryLayout<Int>.size)
        #expect(MemoryLayout<DependentList>.size == MemoryLayout<Int>.size)
        var edges = DependencyList([operations[0]])
        guard case .one = edges.take() else {
            Issue.record()
            return
        }
    }
}

import Testing

@testable import Baton

/// Operations that are registered with a source and withdraw, while the source finishes. Every step is one critical
/// section of the source, or belongs to the finishing thread alone.
@Suite struct DependentListInterleavingTests {
    private final class Scenario {
        private var list = DependentList()
        private var hasFinished = false
        private let dependents: [AnyOperation]
        private let places: [DependentList.Place]
        private let blocks: [DependencyBlock]
        /// The dependents in the order in which they were registered, without those that have withdrawn.
        private var registered: [Int] = []
        /// The dependents that the finish found in the list.
        private(set) var taken: [Int] = []
        private(set) var countedDown: [Int] = []
        private(set) var withdrawn: [Int] = []
        /// The dependents that came after the finish.
        private(set) var late: [Int] = []

        /// - Parameter withBlocks: The dependents that are in the list with a place of their block.
        init(count: Int, withBlocks: Set<Int>) {
            dependents = (0..<count).map { AsyncOperation("\($0)") {} }
            var (places, blocks): ([DependentList.Place], [DependencyBlock]) = ([], [])
            let sources = (0..<2).map { AsyncOperation("source \($0)") {} as AnyOperation }
            for (number, dependent) in dependents.enumerated() {
                if withBlocks.contains(number) {
                    let block = DependencyBlock.make(sources)
                    blocks.append(block)
                    var own: [DependentList.Place] = []
                    block.enter(Unretained(dependent)) { place, _ in own.append(place) }
                    places.append(own[1])
                } else {
                    places.append(DependentList.Place(Unretained(dependent)))
                }
            }
            (self.places, self.blocks) = (places, blocks)
        }

        func dependent(_ number: Int, withdraws: Bool) -> Steps {
            let steps = Steps()
            steps.append { [self] in
                if hasFinished { return late.append(number) }
                list.append(places[number])
                registered.append(number)
                guard withdraws else { return }
                steps.append { [self] in
                    // After the finish, the finishing thread counts the dependent down.
                    if hasFinished { return }
                    list.remove(places[number])
                    registered.removeAll { $0 == number }
                    withdrawn.append(number)
                }
            }
            return steps
        }

        func finish() -> Steps {
            let steps = Steps()
            steps.append { [self] in
                hasFinished = true
                taken = registered
                let all = list
                list = DependentList()
                steps.append { [self] in
                    all.visit { dependent in
                        countedDown.append(dependents.firstIndex { dependent.refers(to: $0) }!)
                        // The dependent is ready, so a list of the scheduler uses its links.
                        dependent.use { operation in
                            operation.next = nil
                            operation.previous = nil
                        }
                    }
                }
            }
            return steps
        }

        var isListEmpty: Bool { list.isEmpty }
    }

    @Test(
        "Each dependent is counted down once, withdraws, or finds that the source has finished",
        arguments: [[], [0], [1, 2], [0, 1, 2]] as [Set<Int>], [[], [0], [1], [2], [0, 2], [0, 1, 2]] as [Set<Int>])
    func dependents(withBlocks: Set<Int>, withdrawing: Set<Int>) {
        exploreInterleavings {
            let scenario = Scenario(count: 3, withBlocks: withBlocks)
            let dependents = (0..<3).map { scenario.dependent($0, withdraws: withdrawing.contains($0)) }
            return (
                dependents + [scenario.finish()],
                { order in
                    let all = scenario.countedDown + scenario.withdrawn + scenario.late
                    #expect(all.sorted() == [0, 1, 2], "\(order)")
                    #expect(scenario.countedDown == scenario.taken, "The order is that of the registrations: \(order)")
                    #expect(scenario.isListEmpty, "\(order)")
                }
            )
        }
    }
}

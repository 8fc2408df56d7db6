/// An observer of the events of a graph, as a plain value.
struct ObserverNote: Sendable {
    enum Subject: Sendable {
        case queue(Int)
        case node(Int)
    }

    enum Behaviour: Sendable {
        case quick
        case slow(yields: Int)
        /// The observer adds a few operations.
        case adding
        /// The observer cancels some of the operations whose events it receives.
        case cancelling
        /// The first call of the observer does not return until the round ends.
        case stuck
    }

    let subject: Subject
    let behaviour: Behaviour
    /// False if the observer is added while the drivers are running.
    let isAddedBeforeStart: Bool
}

extension Plan {
    static func observers(of graph: Graph, _ random: inout SeededRandom) -> [ObserverNote] {
        if random.isLucky(percent: 60) { return [] }
        let added = graph.nodes.filter { !$0.isNested }.map(\.id)
        let mild: [ObserverNote.Behaviour] = [.quick, .slow(yields: random.number(1...9)), .stuck]
        return (0..<random.number(1...4)).map { _ in
            let isAddedBeforeStart = random.isLucky(percent: 60)
            if !added.isEmpty, random.isLucky(percent: 40) {
                return ObserverNote(
                    subject: .node(random.pick(added)), behaviour: random.pick(mild),
                    isAddedBeforeStart: isAddedBeforeStart)
            }
            let all = mild + (graph.isExact ? [.adding] : [.adding, .cancelling])
            return ObserverNote(
                subject: .queue(random.number(0...graph.queues.count - 1)), behaviour: random.pick(all),
                isAddedBeforeStart: isAddedBeforeStart)
        }
    }
}

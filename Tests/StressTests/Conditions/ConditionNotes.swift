import Baton
import Synchronization

/// The records of the conditions of one node. Each condition has one bit.
final class ConditionRecord: Sendable {
    let isAsked = Atomic<Bool>(false)
    fileprivate let begun = Atomic<Int>(0)
    fileprivate let satisfied = Atomic<Int>(0)
    fileprivate let running = Atomic<Int>(0)
    /// The outcomes of the operations that leaves have brought along.
    let fresh = Locked<[Int: Outcome]>([:])

    var evaluating: Int { running.load(ordering: .relaxed) }
}

/// The checks of conditions (G11).
extension RunRecorder {
    /// Records that the conditions of a node are asked, before any of them is evaluated.
    func conditionWasAsked(_ id: Int, _ operation: AnyOperation) {
        nodes[id].conditions.isAsked.store(true, ordering: .relaxed)
        checkNotBegun(id)
        note(.asked(id))
    }

    func evaluationBegan(_ node: Node, _ place: Int, _ operation: AnyOperation, after dependency: AnyOperation?) {
        let record = nodes[node.id].conditions
        let begun = record.begun.bitwiseOr(1 << place, ordering: .relaxed).oldValue
        check(begun & 1 << place == 0, "G11: condition \(place) of n\(node.id) is evaluated twice")
        check(operation.state == .evaluating, "G11: n\(node.id) is \(operation.state) while it is evaluated")
        check(dependency?.state ?? .finished == .finished, "G11: what n\(node.id) brought along has not finished")
        for source in operation.dependencies {
            check(source.state == .finished, "G11: n\(node.id) is evaluated before \(source.reference) has finished")
        }
        checkNotBegun(node.id)
        record.running.add(1, ordering: .relaxed)
    }

    func evaluationEnded(_ node: Node, _ place: Int) {
        checkNotBegun(node.id)
        nodes[node.id].conditions.running.subtract(1, ordering: .relaxed)
    }

    func wasSatisfied(_ id: Int, _ place: Int) {
        nodes[id].conditions.satisfied.bitwiseOr(1 << place, ordering: .relaxed)
    }

    private func checkNotBegun(_ id: Int) {
        check(nodes[id].starts.load(ordering: .relaxed) == 0, "G11: n\(id) runs, and is evaluated")
    }

    /// Checks the conditions when the body begins, or when its start is reported.
    func checkConditions(_ id: Int) {
        let count = graph.nodes[id].conditions.count
        let record = nodes[id].conditions
        check(
            record.satisfied.load(ordering: .relaxed) == 1 << count - 1,
            "G11: n\(id) begins, and not all of its conditions are satisfied")
        check(record.evaluating == 0, "G11: n\(id) begins while it is evaluated")
    }
}

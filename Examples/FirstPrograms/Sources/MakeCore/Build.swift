import Baton
import Foundation

/// One run of a plan.
package struct Build: Sendable {
    let plan: Plan
    let workshop: Workshop
    let keepsGoing: Bool

    /// - Parameter keepsGoing: True if targets that do not need a failed target are still made.
    package init(_ plan: Plan, in workshop: Workshop, keepsGoing: Bool = false) {
        self.plan = plan
        self.workshop = workshop
        self.keepsGoing = keepsGoing
    }

    /// Makes all targets, as many at a time as the queue is wide.
    package func run(on queue: AsyncOperationQueue) async -> Report {
        let operations = Dictionary(uniqueKeysWithValues: plan.targets.map { ($0.name, operation(for: $0)) })
        for target in plan.targets {
            for need in target.needs {
                guard let source = operations[need] else { continue }  // a file
                operations[target.name]!.addDependency(source, on: .noFailure)
            }
        }
        let all = plan.targets.map { target in operations[target.name]! }
        let group = GroupOperation("make", all, policy: keepsGoing ? .collectAll : .failFast)
        _ = try? await queue.run(group)
        return Report(plan, errors: all.map(\.error))
    }

    private func operation(for target: Target) -> AsyncOperation<Void> {
        let operation = AsyncOperation(target.name) { [workshop] context in
            let before = workshop.changed(target.name)
            do {
                try await workshop.run(target, context)
            } catch {
                if workshop.changed(target.name) != before { workshop.remove(target.name) }  // may be incomplete
                throw error
            }
        }
        .retry(.exponential(from: .milliseconds(100)), attempts: target.attempts)
        .addCondition(OutOfDate(target: target, changed: workshop.changed))
        if let limit = target.timeLimit { operation.timeout(.seconds(limit)) }
        return operation
    }
}

/// A condition that is satisfied if the file of a target is missing, or is not newer than the files that it needs.
struct OutOfDate: OperationCondition {
    let target: Target
    let changed: @Sendable (String) -> Date?

    func evaluate(for operation: AnyOperation) async throws -> ConditionResult {
        guard let made = changed(target.name) else { return .satisfied }
        let isOlder = target.needs.contains { need in changed(need).map { $0 >= made } ?? true }
        return isOlder ? .satisfied : .skip("up to date")
    }
}

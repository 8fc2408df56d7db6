public import Baton

/// The verdict of a condition, found by letting it decide about an operation.
///
/// ```swift
/// let trial = await ConditionTrial(of: EnoughSpace(on: fullDisk))
/// #expect(trial.verdict == .skipped("the disk is nearly full"))
/// ```
///
/// The condition is evaluated in the same way as by every queue: the dependency that it brings along runs first, under
/// the exclusions of the condition, and then the condition is evaluated under them.
public struct ConditionTrial: Sendable {
    /// The result of a trial.
    @nonexhaustive
    public enum Verdict: Sendable, Hashable, CustomStringConvertible {
        /// The operation may run.
        case satisfied
        /// The operation is skipped for this reason, which is not a failure.
        case skipped(String)
        /// The operation fails. The text is the description of ``ConditionTrial/cause``.
        case failed(String)
        /// The condition, or the operation that it brought along, cancelled the operation.
        case cancelled
        /// The operation ended with another error, for example because of exclusions that cannot be granted, or a cycle
        /// of operations.
        case ended(String)

        /// The verdict in a few words, on one line.
        public var description: String { text.singleLine }

        private var text: String {
            switch self {
            case .satisfied: "satisfied"
            case .skipped(let reason): "skipped: \(reason)"
            case .failed(let cause): "failed: \(cause)"
            case .cancelled: "cancelled"
            case .ended(let error): "ended: \(error)"
            }
        }
    }

    /// The result of the trial.
    public let verdict: Verdict
    /// The error that the condition threw, or with which the operation ended otherwise. Nil if it was satisfied,
    /// skipped or cancelled.
    public let cause: (any Error)?
    /// The operation that the condition brought along, which has finished, or nil if there was none.
    public let dependency: AnyOperation?

    /// Lets a condition decide about an operation, and returns when it has decided.
    ///
    /// - Parameters:
    ///   - condition: The condition to try.
    ///   - name: The name of the operation that the condition decides about.
    ///   - dependencies: The dependencies of that operation. Those that have not been added to a queue are run first.
    ///   - queue: The queue that runs everything, by default a new one. To try a condition under a seed or on a
    ///     ``TestClock``, pass a queue that has them.
    public init(
        of condition: some OperationCondition, forOperationNamed name: String = "trial",
        after dependencies: [AnyOperation] = [], on queue: AsyncOperationQueue = AsyncOperationQueue(name: "trial")
    ) async {
        let recorder = DependencyRecorder()
        let operation = AsyncOperation(name) {}
        for dependency in dependencies { operation.addDependency(dependency) }
        operation.addCondition(RecordingCondition(base: condition, recorder: recorder))
        let outcome: Result<Void, OperationError>
        do throws(OperationError) {
            outcome = .success(try await queue.run(operation))
        } catch { outcome = .failure(error) }
        dependency = recorder.dependency.withLock { $0 }
        switch outcome {
        case .success: (verdict, cause) = (.satisfied, nil)
        case .failure(.skipped(.condition(let reason))): (verdict, cause) = (.skipped(reason), nil)
        case .failure(.conditionFailed(_, let error)): (verdict, cause) = (.failed("\(error)"), error)
        case .failure(.cancelled): (verdict, cause) = (.cancelled, nil)
        case .failure(let error): (verdict, cause) = (.ended("\(error)"), error)
        }
    }
}

/// A condition that forwards to another one and records the dependency that it brings along.
private struct RecordingCondition<Base: OperationCondition>: OperationCondition {
    let base: Base
    let recorder: DependencyRecorder

    var name: String { base.name }

    var exclusions: [Exclusion] { base.exclusions }

    func dependency(for operation: AnyOperation) -> AnyOperation? {
        let dependency = base.dependency(for: operation)
        recorder.dependency.withLock { $0 = dependency }
        return dependency
    }

    func evaluate(for operation: AnyOperation, after dependency: AnyOperation?) async throws -> ConditionResult {
        try await base.evaluate(for: operation, after: dependency)
    }

    func evaluate(for operation: AnyOperation) async throws -> ConditionResult {
        try await evaluate(for: operation, after: nil)
    }
}

private final class DependencyRecorder: Sendable {
    let dependency = Locked<AnyOperation?>(nil)
}

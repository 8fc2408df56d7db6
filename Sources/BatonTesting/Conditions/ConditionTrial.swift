public import Baton

/// What a condition would do to an operation, found out by letting it decide about one.
///
/// ```swift
/// let trial = await ConditionTrial(of: EnoughSpace(on: fullDisk))
/// #expect(trial.verdict == .skipped("the disk is nearly full"))
/// ```
///
/// The condition is asked as every queue asks: what it brings along runs first, under its exclusions, then it is
/// evaluated under them.
public struct ConditionTrial: Sendable {
    /// What the condition came to.
    @nonexhaustive
    public enum Verdict: Sendable, Hashable, CustomStringConvertible {
        /// The operation may run.
        case satisfied
        /// It does not run, for this reason, and that is no failure.
        case skipped(String)
        /// It fails; this is the description of the cause, see ``ConditionTrial/cause``.
        case failed(String)
        /// The condition, or what it brought along, cancelled it.
        case cancelled
        /// It ended otherwise, with this error: exclusions that nobody can hold, a circle of operations.
        case ended(String)

        /// In a few words, on one line.
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

    /// What the condition came to.
    public let verdict: Verdict
    /// What it threw, if it did.
    public let cause: (any Error)?
    /// The operation that it brought along, which has finished; nil for none.
    public let dependency: AnyOperation?

    /// Lets `condition` decide about an operation, and returns when it has.
    ///
    /// - Parameters:
    ///   - condition: What is tried.
    ///   - name: The name of the operation that it is asked about.
    ///   - dependencies: The dependencies of that operation. Those that nobody has added are run first.
    ///   - queue: Where everything runs; a new one unless given. To try a condition under a seed or a
    ///     ``TestClock``, pass a queue that has them.
    public init(
        of condition: some OperationCondition, forOperationNamed name: String = "trial",
        after dependencies: [AnyOperation] = [], on queue: AsyncOperationQueue = AsyncOperationQueue(name: "trial")
    ) async {
        let seen = Seen()
        let operation = AsyncOperation(name) {}
        for dependency in dependencies { operation.addDependency(dependency) }
        operation.addCondition(Watched(base: condition, seen: seen))
        let outcome: Result<Void, OperationError>
        do throws(OperationError) {
            outcome = .success(try await queue.run(operation))
        } catch { outcome = .failure(error) }
        dependency = seen.dependency.withLock { $0 }
        switch outcome {
        case .success: (verdict, cause) = (.satisfied, nil)
        case .failure(.skipped(.condition(let reason))): (verdict, cause) = (.skipped(reason), nil)
        case .failure(.conditionFailed(_, let error)): (verdict, cause) = (.failed("\(error)"), error)
        case .failure(.cancelled): (verdict, cause) = (.cancelled, nil)
        case .failure(let error): (verdict, cause) = (.ended("\(error)"), error)
        }
    }
}

/// Passes everything on, and keeps what was brought along.
private struct Watched<Base: OperationCondition>: OperationCondition {
    let base: Base
    let seen: Seen

    var name: String { base.name }

    var exclusions: [Exclusion] { base.exclusions }

    func dependency(for operation: AnyOperation) -> AnyOperation? {
        let dependency = base.dependency(for: operation)
        seen.dependency.withLock { $0 = dependency }
        return dependency
    }

    func evaluate(for operation: AnyOperation, after dependency: AnyOperation?) async throws -> ConditionResult {
        try await base.evaluate(for: operation, after: dependency)
    }

    func evaluate(for operation: AnyOperation) async throws -> ConditionResult {
        try await evaluate(for: operation, after: nil)
    }
}

private final class Seen: Sendable {
    let dependency = Locked<AnyOperation?>(nil)
}

import BatonTesting

@testable import Baton

/// A queue on a step executor and a test clock. It logs the misuse that is reported, and the names of operations that
/// ``noting(_:after:)`` and ``waiting(_:at:)`` made and that ran.
struct TestQueue: Sendable {
    let steps: StepExecutor
    let log = EventLog<String>()
    let misuses: EventLog<Misuse>
    /// The clock of the queue.
    let clock = TestClock()
    let queue: AsyncOperationQueue

    init(
        name: String? = nil, width: Int = 64, isSuspended: Bool = false, on steps: StepExecutor = StepExecutor(),
        probe: (@Sendable (OperationEvent) -> Void)? = nil
    ) {
        let misuses = EventLog<Misuse>()
        self.steps = steps
        self.misuses = misuses
        queue = AsyncOperationQueue(
            name: name, maxConcurrentOperationCount: width, isSuspended: isSuspended, executor: steps, clock: clock,
            onMisuse: { misuses($0) }, probe: probe)
    }

    var ran: [String] { log.events }

    var misuseKinds: [Misuse.Kind] { misuses.events.map(\.kind) }

    /// Creates an operation that logs its name when it runs.
    func noting(_ name: String, after sources: AnyOperation...) -> AsyncOperation<Void> {
        let operation = AsyncOperation(name) { [log] in log(name) }
        for source in sources { operation.addDependency(source) }
        return operation
    }

    /// Creates an operation that logs its name and then waits at the gate, even if it is cancelled.
    func waiting(_ name: String, at gate: Gate) -> AsyncOperation<Void> {
        AsyncOperation(name) { [log] in
            log(name)
            await gate.wait()
        }
    }

    /// Adds the operations, and runs everything that can run.
    func run(_ operations: AnyOperation...) {
        queue.add(operations)
        steps.runAll()
    }

    /// Advances the clock, and runs everything that can run then.
    func advance(by duration: Duration) {
        clock.advance(by: duration)
        steps.runAll()
    }
}

struct Oops: Error, Equatable, CustomStringConvertible {
    var text = "oops"
    var description: String { text }
}

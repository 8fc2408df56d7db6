/// A type-erased task-local that a queue carries.
package struct CarriedTaskLocal: Sendable {
    /// Reads the value on the calling task, and returns it with the task-local that it belongs to.
    let captured: @Sendable () -> any TaskLocalBinding

    init<Value: Sendable>(_ local: TaskLocal<Value>) {
        captured = { CapturedTaskLocal(local: local, value: local.get()) }
    }
}

/// A value of a task-local, to be bound on another task.
protocol TaskLocalBinding: Sendable {
    nonisolated(nonsending) func bind(_ body: nonisolated(nonsending) () async -> Void) async
    func bind(_ body: () -> Void)
}

private struct CapturedTaskLocal<Value: Sendable>: TaskLocalBinding {
    let local: TaskLocal<Value>
    let value: Value

    nonisolated(nonsending) func bind(_ body: nonisolated(nonsending) () async -> Void) async {
        await local.withValue(value) { await body() }
    }

    func bind(_ body: () -> Void) { local.withValue(value) { body() } }
}

/// The values that the task-locals of a queue had on the task that added an operation. All operations of one add share
/// one object.
final class TaskLocalValues: Sendable {
    private let bindings: [any TaskLocalBinding]

    /// Captures the values on the calling task. Returns nil if there are no task-locals.
    init?(of locals: [CarriedTaskLocal]) {
        if locals.isEmpty { return nil }
        bindings = locals.map { $0.captured() }
    }

    nonisolated(nonsending) func bind(_ body: nonisolated(nonsending) () async -> Void) async {
        await bind(bindings[...], body)
    }

    private nonisolated(nonsending) func bind(
        _ bindings: ArraySlice<any TaskLocalBinding>, _ body: nonisolated(nonsending) () async -> Void
    ) async {
        guard let first = bindings.first else { return await body() }
        await first.bind { await self.bind(bindings.dropFirst(), body) }
    }

    func bind(_ body: () -> Void) { bind(bindings[...], body) }

    private func bind(_ bindings: ArraySlice<any TaskLocalBinding>, _ body: () -> Void) {
        guard let first = bindings.first else { return body() }
        first.bind { bind(bindings.dropFirst(), body) }
    }
}

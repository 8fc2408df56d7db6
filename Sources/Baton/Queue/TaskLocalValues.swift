/// A task-local that a queue carries, without its type.
package struct CarriedTaskLocal: Sendable {
    /// The value on the calling task, with the task-local that it belongs to.
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

/// The values of the task-locals that a queue carries, on the task that has added an operation. One object for all
/// operations of one add.
final class TaskLocalValues: Sendable {
    private let bindings: [any TaskLocalBinding]

    /// Nil: there is nothing to carry.
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

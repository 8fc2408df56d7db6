import Baton
import Testing

internal import class Foundation.Thread

/// Each error comes from operations that pass on each other's errors. It is then described, queried and released on a
/// thread whose stack is as small as those of Swift's pool on Darwin.
@Suite("Errors that pass on other errors", .timeLimit(.minutes(5)))
struct NestedErrorTests {
    private let depth = 10_000

    // MARK: Depth

    @Test("An error that passes through 10,000 nested bodies is described and released on a small stack")
    func nestedBodies() async throws {
        try await examine(await failure { nested(depth) }) { error in
            #expect(error.description == "oops")
            guard case .failed(is Oops) = error else {
                Issue.record("\(error)")
                return
            }
        }
    }

    @Test("An error that passes through bodies whose children need inputs has a short description")
    func nestedInputs() async throws {
        try await examine(await failure { reading(depth) }) { error in
            #expect(error.description.contains("oops"))
            #expect(error.description.utf8.count < 1_000)
        }
    }

    @Test("An error that passes through nested groups with a second failure in each has a short description")
    func nestedGroups() async throws {
        let error = await failure {
            var operation: AsyncOperation<Void> = AsyncOperation("innermost") { throw Oops() }
            for _ in 0..<depth { operation = GroupOperation(operation, AsyncOperation("leaf") { throw Oops() }) }
            return operation
        }
        try await examine(error) { error in
            #expect(error.description.hasPrefix("2 of the group failed: "))
            #expect(error.description.utf8.count < 5_000)
        }
    }

    @Test("An error that passes through nested conditions names the outermost one")
    func nestedConditions() async throws {
        try await examine(await failure { nestedCondition(depth / 4) }) { error in
            #expect(error.stage == .condition)
            #expect(error.publisher == "asks")
        }
    }

    @Test("An error that passes through a chain of conditions on dependencies is still described")
    func dependencyConditions() async throws {
        var last: AsyncOperation<Void> = AsyncOperation("first") { throw Oops() }
        var all = [last]
        for number in 0..<depth {
            let next = AsyncOperation("link \(number)") {}.addDependency(last).addCondition(NoFailedDependencies())
            all.append(next)
            last = next
        }
        AsyncOperationQueue().add(all)
        let error = await failure(of: last)
        all = []
        last = AsyncOperation {}
        try await examine(error, expectsOops: false) { error in
            #expect(error.publisher == "NoFailedDependencies")
            #expect(error.description.contains("oops"))
        }
    }

    @Test("An error that both sides of nested conditions pass on has a short description")
    func eitherCondition() async throws {
        var last: AsyncOperation<Void> = AsyncOperation("first") { throw Oops() }
        var all = [last]
        for _ in 0..<100 {
            let source = last
            last = AsyncOperation("link") {}.addCondition(Reads(source: source).or(Reads(source: source)))
            all.append(last)
        }
        AsyncOperationQueue().add(all)
        let error = await failure(of: last)
        all = []
        last = AsyncOperation {}
        try await examine(error, expectsOops: false) { #expect($0.description.utf8.count < 10_000) }
    }

    @Test("A body that throws an OperationFailure keeps the description short")
    func failuresThrown() async throws {
        try await examine(await failure { throwingFailures(depth / 4) }, expectsOops: false) { error in
            #expect(error.description.utf8.count < 5_000)
        }
    }

    @Test("Alternately nested errors of users and of Baton are described to a limited depth")
    func wrappedErrors() async throws {
        try await examine(await failure { wrapping(500) }, expectsOops: false) { error in
            #expect(error.description.utf8.count < 5_000)
            #expect(error.underlyingError is Wrapped)
        }
    }

    @Test("The description of a nested error says that one error in between is left out")
    func oneErrorLeftOut() {
        var error = OperationError.failed(Oops())
        for number in 0..<5 { error = .conditionFailed(condition: "condition \(number)", cause: error) }
        #expect(error.description.hasSuffix("(1 error in between is left out)"))
    }

    @Test("The description of a manually nested error contains both ends")
    func nestedByHand() async throws {
        var error = OperationError.failed(Oops())
        for number in 0..<300 {
            error = .conditionFailed(condition: "condition \(number)", cause: error)
        }
        let text = error.description
        #expect(text.hasPrefix("the condition ‘condition 299’ failed: "))
        #expect(text.contains("oops"))
        #expect(text.hasSuffix("(296 errors in between are left out)"))
        #expect(error.underlyingError is Oops)
    }

    // MARK: Width

    @Test("Dependents of a group with many failures do not examine them")
    func wideGroups() async throws {
        try await expectNearlyLinear(1_000) { count in
            let queue = AsyncOperationQueue()
            let group = GroupOperation((0..<count).map { _ in AsyncOperation<Void> { throw Oops() } })
            let passing = (0..<count).map { number -> AsyncOperation<Void> in
                switch number % 3 {
                case 0: AsyncOperation<Void>(group) { _ in }
                case 1: AsyncOperation { try await group.value }
                default: AsyncOperation {}.addDependency(group).addCondition(NoFailedDependencies())
                }
            }
            queue.add(passing + [group])
            try await within { await queue.waitUntilIdle() }
            for operation in passing { #expect(operation.error != nil) }
        }
    }

    @Test("Many failures and long cycles have short descriptions")
    func longLists() async throws {
        let references = (0..<50_000).map { AsyncOperation("operation \($0)") {}.reference }
        let failures = references.map { OperationFailure(operation: $0, error: .failed(Oops())) }
        let texts = [
            OperationError.groupFailed(failures).description, OperationError.dependencyCycle(references).description,
            OperationError.exclusionDeadlock(references).description,
            ConditionError.dependenciesFailed(failures).description,
        ]
        for text in texts {
            #expect(text.utf8.count < 1_000)
            #expect(text.contains("operation 0"))
            #expect(text.contains(" more"))
        }
        #expect(texts[1].contains("‘operation 49999’ → ‘operation 0’. "))
    }

    // MARK: Errors of bodies that pass on errors

    @Test("A body that passes on the error of another body fails with the same error")
    func passedOn() async throws {
        let child = AsyncOperation<Int>("child") { throw Oops() }
        let ways: [AsyncOperation<Int>] = [
            AsyncOperation { try await $0.run(child) }, AsyncOperation { try await child.value },
            AsyncOperation(resultOf: child) { try $0.get() },
        ]
        let queue = AsyncOperationQueue()
        queue.add(ways)
        for operation in ways {
            let error = await failure(of: operation)
            guard case .failed(is Oops) = error else {
                Issue.record("\(error)")
                continue
            }
            #expect(error.stage == .execution)
        }
    }

    @Test("A body that passes on an error that the child's body did not throw fails with that OperationError")
    func passedOnOthers() async throws {
        let cancelled = AsyncOperation<Int> { throw Oops() }
        cancelled.cancel()
        let failing = AsyncOperation<Int>("failing") { throw Oops() }
        let reading = AsyncOperation<Int>(failing) { $0 }
        let ofCancelled = AsyncOperation<Int> { try await $0.run(cancelled) }
        let ofReading = AsyncOperation<Int> { try await $0.run(reading) }
        let above = AsyncOperation<Int> { try await $0.run(ofReading) }
        let fallback = AsyncOperation { 1 }.addDependency(ofCancelled, on: .failure)
        AsyncOperationQueue().add([ofCancelled, above, fallback])
        let error = await failure(of: ofCancelled)
        guard case .failed(OperationError.cancelled) = error else {
            Issue.record("\(error)")
            return
        }
        #expect(!ofCancelled.isCancelled)
        #expect(try await fallback.value == 1)
        let other = await failure(of: above)
        guard case .failed(OperationError.dependencyFailed(let source, _, .failed(is Oops))) = other else {
            Issue.record("\(other)")
            return
        }
        #expect(source == failing.reference)
    }

    // MARK: Nested operations

    private func nested(_ depth: Int) -> AsyncOperation<Int> {
        AsyncOperation<Int> { context in
            if depth == 0 { throw Oops() }
            return try await context.run(nested(depth - 1)) + 1
        }
    }

    private func reading(_ depth: Int) -> AsyncOperation<Int> {
        AsyncOperation<Int> { context in
            if depth == 0 { throw Oops() }
            return try await context.run(AsyncOperation<Int>(reading(depth - 1)) { $0 + 1 }) + 1
        }
    }

    private func nestedCondition(_ depth: Int) -> AsyncOperation<Void> {
        if depth == 0 { return AsyncOperation { throw Oops() } }
        return AsyncOperation {}.addCondition("asks") { _ in
            try await AsyncOperationQueue.shared.run(nestedCondition(depth - 1))
            return .satisfied
        }
    }

    private func throwingFailures(_ depth: Int) -> AsyncOperation<Void> {
        AsyncOperation { context in
            if depth == 0 { throw Oops() }
            let child = throwingFailures(depth - 1)
            do throws(OperationError) { try await context.run(child) } catch {
                throw OperationFailure(operation: child.reference, error: error)
            }
        }
    }

    private func wrapping(_ depth: Int) -> AsyncOperation<Void> {
        AsyncOperation { context in
            if depth == 0 { throw Oops() }
            do throws(OperationError) { try await context.run(wrapping(depth - 1)) } catch {
                throw Wrapped(error: error)
            }
        }
    }

    /// Makes and adds an operation, and returns its error. The caller holds no reference to the operation, so that it
    /// can release the error.
    private func failure<Output>(of make: () -> AsyncOperation<Output>) async -> OperationError {
        let operation = make()
        AsyncOperationQueue().add(operation)
        return await failure(of: operation)
    }

    private func failure<Output>(of operation: AsyncOperation<Output>) async -> OperationError {
        do {
            _ = try await operation.value
            Issue.record("The operation has not failed.")
            return .inputMissing
        } catch { return error }
    }

    /// Calls `look`, describes and releases the error on a thread with a small stack. With `expectsOops`, the error
    /// must come from an ``Oops``.
    private func examine(
        _ error: consuming OperationError, expectsOops: Bool = true,
        _ look: @escaping @Sendable (OperationError) -> Void
    ) async throws {
        let box = Guarded<OperationError?>(error)
        error = .inputMissing
        try await within {
            await onSmallStack {
                let error = box.withLock { $0.take() }!
                look(error)
                #expect(!String(reflecting: error).isEmpty)
                _ = error.stage
                _ = error.publisher
                #expect(!expectsOops || error.underlyingError is Oops)
            }
        }
    }
}

private func onSmallStack(_ work: @escaping @Sendable () -> Void) async {
    await withCheckedContinuation { continuation in
        let thread = Thread {
            work()
            continuation.resume()
        }
        thread.stackSize = 512 << 10
        thread.start()
    }
}

private struct Oops: Error, CustomStringConvertible {
    var description: String { "oops" }
}

private struct Wrapped: Error {
    let error: OperationError
}

private struct Reads: OperationCondition {
    let source: AsyncOperation<Void>

    func evaluate(for operation: AnyOperation) async throws -> ConditionResult {
        try await source.value
        return .satisfied
    }
}

import Baton
import Testing

internal import class Foundation.Thread

/// Each error comes from operations that pass on each other's errors. It is then described, queried and released on a
/// thread whose stack is as small as those of Swift's pool on Darwin.
@Suite("Errors that pass on other errors", .timeLimit(.minutes(5)))
struct NestedErrorTests {
    private let depth = 10_000

    // MARK: Depth

    @Test("An error that comes up through nested bodies")
    func nestedBodies() async throws {
        let top = nested(depth)
        AsyncOperationQueue().add(top)
        let error = await failure(of: top)
        try await examine(error) { #expect($0.description == "oops") }
        guard case .failed(is Oops) = error else { return #expect(Bool(false), "\(error)") }
    }

    @Test("An error that comes up through bodies whose children need inputs")
    func nestedInputs() async throws {
        let top = reading(depth)
        AsyncOperationQueue().add(top)
        try await examine(await failure(of: top)) { error in
            #expect(error.description.contains("oops"))
            #expect(error.description.utf8.count < 1_000)
        }
    }

    @Test("An error that comes up through groups in groups, with a second failure in each")
    func nestedGroups() async throws {
        var operation: AsyncOperation<Void> = AsyncOperation("innermost") { throw Oops() }
        for _ in 0..<depth { operation = GroupOperation(operation, AsyncOperation("leaf") { throw Oops() }) }
        AsyncOperationQueue().add(operation)
        let error = await failure(of: operation)
        operation = AsyncOperation {}
        try await examine(error) { error in
            #expect(error.description.hasPrefix("2 of the group failed: "))
            #expect(error.description.utf8.count < 5_000)
        }
    }

    @Test("An error that comes up through conditions that run operations")
    func nestedConditions() async throws {
        let top = judged(depth / 4)
        AsyncOperationQueue().add(top)
        try await examine(await failure(of: top)) { error in
            #expect(error.stage == .condition)
            #expect(error.publisher == "asks")
        }
    }

    @Test("An error that comes up through conditions on dependencies")
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
        try await examine(error, root: false) { error in
            #expect(error.publisher == "NoFailedDependencies")
            #expect(error.description.contains("oops"))
        }
    }

    @Test("An error that both sides of a condition pass on again and again")
    func eitherCondition() async throws {
        var last: AsyncOperation<Void> = AsyncOperation("first") { throw Oops() }
        var all = [last]
        for _ in 0..<100 {
            let source = last
            last = AsyncOperation("link") {}.addCondition(Reads(source: source).or(Reads(source: source)))
            all.append(last)
        }
        AsyncOperationQueue().add(all)
        try await examine(await failure(of: last), root: false) { #expect($0.description.utf8.count < 10_000) }
    }

    @Test("A failure of a list is rethrown by bodies")
    func failuresThrown() async throws {
        let top = throwingFailures(depth / 4)
        AsyncOperationQueue().add(top)
        try await examine(await failure(of: top), root: false) { #expect($0.description.utf8.count < 5_000) }
    }

    @Test("Alternately nested errors of users and of Baton are described to a limited depth")
    func wrappedErrors() async throws {
        let top = wrapping(500)
        AsyncOperationQueue().add(top)
        try await examine(await failure(of: top), root: false) { error in
            #expect(error.description.utf8.count < 5_000)
            #expect(error.underlyingError is Wrapped)
        }
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
                #expect(Bool(false), "\(error)")
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
        guard case .failed(OperationError.cancelled) = error else { return #expect(Bool(false), "\(error)") }
        #expect(!ofCancelled.isCancelled)
        #expect(try await fallback.value == 1)
        let other = await failure(of: above)
        guard case .failed(OperationError.dependencyFailed(let source, _, .failed(is Oops))) = other else {
            return #expect(Bool(false), "\(other)")
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

    private func judged(_ depth: Int) -> AsyncOperation<Void> {
        if depth == 0 { return AsyncOperation { throw Oops() } }
        return AsyncOperation {}.addCondition("asks") { _ in
            try await AsyncOperationQueue.shared.run(judged(depth - 1))
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

    private func failure<Output>(of operation: AsyncOperation<Output>) async -> OperationError {
        do {
            _ = try await operation.value
            return .inputMissing
        } catch { return error }
    }

    /// Calls `look`, describes and releases the error on a thread with a small stack.
    private func examine(
        _ error: consuming OperationError, root: Bool = true, _ look: @escaping @Sendable (OperationError) -> Void
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
                #expect(!root || error.underlyingError is Oops)
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

// The number of a guarantee begins the name of its tests.
// swift-format-ignore-file: AlwaysUseLowerCamelCase

import BatonTesting
import Testing

@testable import Baton

/// Tests in which bodies, inputs, outputs, errors and handlers capture tokens. No token may be alive at the end of a
/// test.
@Suite(.timeLimit(.minutes(10))) struct ResourceGuarantees {
    private let tokens = Tokens()

    /// Makes a graph with a body, an input, an output and a handler that each hold a token.
    private func graph(failing: Bool = false) -> [AnyOperation] {
        let (inBody, inHandler, inInput) = (tokens.make(), tokens.make(), tokens.make())
        let source = AsyncOperation<Token> { [tokens] in
            inBody.touch()
            if failing { throw TokenError(token: tokens.make()) }
            return tokens.make()
        }
        source.didFinish { _ in inHandler.touch() }
        let literal = AsyncOperation(Keeping(), input: inInput)
        let reader = source.then { $0 }
        let both = AsyncOperation(reader, literal) { one, two in [one, two] }
        both.didFinish { [tokens] _ in tokens.make().touch() }
        let after = AsyncOperation { inBody.touch() }
        after.addDependency(both)
        return [source, literal, reader, both, after]
    }

    @Test(arguments: [false, true]) func G31_nothingIsAliveWhenTheQueueIsIdle(failing: Bool) {
        let stage = TestQueue()
        stage.queue.add(graph(failing: failing))
        #expect(tokens.alive > 0)
        stage.steps.runAll()
        #expect(stage.queue.operationCount == 0)
        #expect(tokens.alive == 0)
    }

    @Test func G31_afterACancel() {
        let stage = TestQueue()
        let gate = Gate()
        let blocker = stage.waiting("blocker", at: gate)
        stage.run(blocker)
        do {
            let graph = graph()
            graph[0].addDependency(blocker)
            stage.run(graph[0], graph[1], graph[2], graph[3], graph[4])
        }
        stage.queue.cancelAll()
        stage.steps.runAll()
        gate.open()
        stage.steps.runAll()
        #expect(tokens.alive == 0)
    }

    /// A cancelled operation releases what it holds immediately, not when a worker would have taken it.
    @Test func G31_aCancelledOperationLetsGoAtOnce() {
        let stage = TestQueue(isSuspended: true)
        let missing = stage.noting("missing")
        let operation: AsyncOperation<Void>
        do {
            let token = tokens.make()
            operation = AsyncOperation { token.touch() }
        }
        operation.addDependency(missing)
        stage.queue.add(operation)
        #expect(tokens.alive == 1)
        operation.cancel()
        #expect(tokens.alive == 0)
    }

    @Test func G31_afterACycle() {
        let stage = TestQueue()
        do {
            let graph = graph()
            graph[0].addDependency(graph[4])
            stage.queue.add(graph)
        }
        stage.steps.runAll()
        #expect(tokens.alive == 0)
    }

    @Test func G31_afterTheQueueWasReleased() {
        let steps = StepExecutor()
        do { AsyncOperationQueue(isSuspended: true, executor: steps).add(graph()) }
        steps.runAll()
        #expect(tokens.alive == 0)
    }

    @Test func G31_neverAdded() {
        do {
            let graph = graph()
            #expect(tokens.alive > 0)
            withExtendedLifetime(graph) {}
        }
        #expect(tokens.alive == 0)
    }

    @Test func G31_neverAddedAndCancelled() async {
        do {
            let graph = graph()
            for operation in graph { operation.cancel() }
            let handled = EventLog<Int>()
            for (number, operation) in graph.enumerated() {
                (operation as? AsyncOperation<Token>)?.didFinish { _ in handled(number) }
            }
            await handled.waitForCount(3)
        }
        // The handlers run on tasks that nobody can await.
        while tokens.alive > 0 { await Task.yield() }
    }

    @Test func G31_childrenAndThoseWhoAwait() {
        let stage = TestQueue(width: 1)
        do {
            let parent = AsyncOperation { [tokens] context in
                let token = tokens.make()
                return try await context.run(AsyncOperation { token })
            }
            stage.steps.task { [queue = stage.queue] in _ = try? await queue.run(parent) }
            stage.steps.task { _ = try? await parent.value }
        }
        stage.steps.runAll()
        #expect(tokens.alive == 0)
    }

    @Test func G31_theOperationsThemselves() {
        let stage = TestQueue()
        weak var source: AnyOperation?
        weak var cancelled: AnyOperation?
        do {
            let first = stage.noting("first")
            let second = stage.noting("second", after: first)
            (source, cancelled) = (first, second)
            stage.queue.add(first, second)
            second.cancel()
        }
        stage.steps.runAll()
        #expect(source == nil)
        #expect(cancelled == nil)
    }

    /// An error names operations, but retains none of them.
    @Test func G31_noErrorRetainsAnOperation() {
        let stage = TestQueue()
        var errors: [OperationError] = []
        do {
            let (inBody, inOther) = (tokens.make(), tokens.make())
            let a = AsyncOperation { inBody.touch() }
            let b = AsyncOperation { inOther.touch() }
            a.addDependency(b)
            b.addDependency(a)
            let reader = a.then { _ in inBody.touch() }
            stage.run(a, b, reader)
            errors = [a, b, reader].compactMap(\.failure)
        }
        #expect(errors.count == 3)
        #expect(tokens.alive == 0)
    }

    @Test func G31_theQueueItself() {
        let steps = StepExecutor()
        weak var core: QueueCore?
        do {
            let queue = AsyncOperationQueue(executor: steps)
            core = queue.core
            queue.add(graph())
        }
        #expect(core != nil, "What was added goes on.")
        steps.runAll()
        #expect(core == nil)
        #expect(tokens.alive == 0)
    }
}

private struct Keeping: InputProcedure {
    func execute(_ input: Token, in context: OperationContext) async throws -> Token { input }
}

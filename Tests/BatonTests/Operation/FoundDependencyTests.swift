import BatonTesting
import Testing

@testable import Baton

/// Tests of `context.dependencies`: outputs that are found by their type.
@Suite(.timeLimit(.minutes(10))) struct FoundDependencyTests {
    private protocol Numbered: Sendable {
        var number: Int? { get }
    }

    private struct Page: Numbered {
        let number: Int?
    }

    private struct Cover: Numbered {
        var number: Int? { 0 }
    }

    private struct Finding: Procedure {
        func execute(in context: OperationContext) async throws -> [Int?] {
            context.dependencies.outputs(of: (any Numbered).self).map(\.number)
        }
    }

    @Test func outputsAreFoundByProtocolInTheOrderAdded() async throws {
        let queue = AsyncOperationQueue(maxConcurrentOperationCount: 1)
        let finding = AsyncOperation(Finding())
        finding.addDependency(AsyncOperation { "text" })
        finding.addDependency(AsyncOperation { Page(number: nil) })
        finding.addDependency(AsyncOperation { () -> Page in throw Oops() })
        finding.addDependency(AsyncOperation { Page(number: 7) })
        finding.addDependency(AsyncOperation { Cover() })
        #expect(try await queue.run(finding) == [nil, 7, 0])
    }

    @Test("Dependencies can be found by type, too")
    func theyAreFoundByTypeToo() async throws {
        let queue = AsyncOperationQueue()
        let page = AsyncOperation { Page(number: 1) }
        let reader = AsyncOperation(page) { _, context in
            let found = context.dependencies
            return
                "\(found.operations.count) \(found.outputs(of: Page.self).count) \(found.outputs(of: Cover.self).count)"
        }
        reader.addDependency(AsyncOperation { Cover() })
        #expect(try await queue.run(reader) == "2 1 1")
    }

    @Test func aDirectCallFindsWhatItIsGiven() async throws {
        let context = OperationContext(attempt: 2, outputs: [Page(number: 3), "text", Cover()])
        #expect(try await Finding().execute(in: context) == [3, 0])
        #expect(context.attempt == 2)
        #expect(context.dependencies.operations.isEmpty)
        #expect(try await Finding().execute(in: OperationContext()) == [])
    }

    @Test func afterTheEndThereIsNothing() {
        let stage = TestQueue()
        let kept = Locked<OperationContext?>(nil)
        let operation = AsyncOperation("operation") { context in kept.withLock { $0 = context } }
        operation.addDependency(AsyncOperation { Cover() }.add(to: stage.queue))
        stage.run(operation)
        #expect(kept.withLock { $0 }?.dependencies.operations.isEmpty == true)
    }
}

import Baton
import BatonTesting
import Testing

@MainActor private final class Screen: Procedure {
    private(set) var shown = 0

    @MainActor func execute(in context: OperationContext) async throws -> Int {
        MainActor.assertIsolated()
        shown += 1
        return shown
    }
}

@MainActor private struct Painting: InputProcedure {
    @MainActor func execute(_ input: Int, in context: OperationContext) async throws -> Int {
        MainActor.assertIsolated()
        return input + 1
    }
}

private struct OneStepOnMain: Procedure {
    @MainActor func execute(in context: OperationContext) async throws -> Int {
        MainActor.assertIsolated()
        return 3
    }
}

private actor Kitchen {
    private var plates: [String] = []

    func serve(_ plate: String) { plates.append(plate) }

    /// A closure that is created here is not isolated to the actor, because bodies run on the queue.
    func cook(on queue: AsyncOperationQueue) async throws -> [String] {
        let soup = AsyncOperation { "soup" }
        soup.didFinish { result in await self.serve(try! result.get()) }
        _ = try await queue.run(soup)
        await queue.waitUntilIdle()
        return plates
    }
}

@Suite(.timeLimit(.minutes(10))) struct IsolationTests {
    private let queue = AsyncOperationQueue()

    @Test @MainActor func aProcedureMayBeIsolatedToTheMainActor() async throws {
        let screen = Screen()
        #expect(try await queue.run(AsyncOperation(screen)) == 1)
        let painted = AsyncOperation(screen).then(Painting())
        #expect(try await queue.run(painted) == 3)
        #expect(screen.shown == 2)
        #expect(try await queue.run(AsyncOperation(Painting(), input: 1)) == 2)
        #expect(try await queue.run(AsyncOperation(OneStepOnMain())) == 3)
    }

    @Test @MainActor func aClosureMayBeIsolatedToTheMainActor() async throws {
        let screen = Screen()
        let operation = AsyncOperation { @MainActor in
            MainActor.assertIsolated()
            return screen.shown
        }
        let reader = operation.then { @MainActor number in
            MainActor.assertIsolated()
            return number + screen.shown
        }
        #expect(try await queue.run(reader) == 0)
    }

    @Test @MainActor func aBodyThatSaysNothingLeavesTheMainActor() async throws {
        let operation = AsyncOperation { #isolation == nil }
        #expect(try await queue.run(operation))
    }

    @Test func anActorMayUseAQueue() async throws {
        #expect(try await Kitchen().cook(on: queue) == ["soup"])
    }
}

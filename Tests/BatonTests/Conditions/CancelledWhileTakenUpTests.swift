import Baton
import Testing

/// Cancels that cross a worker which takes the operation up and looks at its inputs and rules. Most of what could go
/// wrong only ThreadSanitizer sees.
@Suite(.timeLimit(.minutes(10))) struct CancelledWhileTakenUpTests {
    @Test func theInputsThatItLetsGoAreNotLookedAt() async {
        let queue = AsyncOperationQueue()
        for _ in 0..<200 {
            let source = AsyncOperation { 1 }
            let readers = (0..<50).map { _ in source.then { $0 }.addCondition("yes") { _ in .satisfied } }
            queue.add(readers)
            queue.add(source)
            let cancels = Task { for reader in readers { reader.cancel() } }
            await queue.waitUntilIdle()
            await cancels.value
            #expect(readers.allSatisfy { $0.result.map { (try? $0.get()) ?? 1 } == 1 })
        }
    }
}

import Baton
import Testing

/// Tests of cancellations that race with a worker which takes up the operation and examines its inputs and conditions.
/// Only ThreadSanitizer detects most of the possible errors.
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

import Baton
import Testing

@Test func aProcedureRuns() async throws {
    let queue = AsyncOperationQueue()
    #expect(try await queue.run(AsyncOperation { 1 }) == 1)
}

// expect: stored property 'count' of 'Sendable'-conforming class 'Counter' is mutable
// A procedure runs on tasks of the queue, any number of times, so it cannot have unprotected mutable state.
import Baton

final class Counter: Procedure {
    var count = 0

    func execute(in context: OperationContext) async throws -> Int {
        count += 1
        return count
    }
}

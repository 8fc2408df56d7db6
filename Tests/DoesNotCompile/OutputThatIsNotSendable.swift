// expect: type 'Page' does not conform to the 'Sendable' protocol
// An output is passed from task to task, so it has to be Sendable.
import Baton

final class Page {
    var text = ""
}

struct Fetch: Procedure {
    func execute(in context: OperationContext) async throws -> Page { Page() }
}

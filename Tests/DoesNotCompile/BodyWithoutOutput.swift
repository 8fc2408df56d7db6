// expect: missing return in instance method expected to return 'String'
// A body that can end without an output and without an error does not compile.
import Baton

struct Fetch: Procedure {
    let isReachable: Bool

    func execute(in context: OperationContext) async throws -> String {
        if isReachable { return "data" }
    }
}

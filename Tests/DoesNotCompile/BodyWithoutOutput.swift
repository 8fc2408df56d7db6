// expect: missing return in instance method expected to return 'String'
// A body that ends without an output, or an error, cannot be written.
import Baton

struct Fetch: Procedure {
    let isReachable: Bool

    func execute(in context: OperationContext) async throws -> String {
        if isReachable { return "data" }
    }
}

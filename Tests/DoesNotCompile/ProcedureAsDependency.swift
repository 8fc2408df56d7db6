// expect: cannot convert value of type 'WarmUp' to expected argument type 'AnyOperation'
// An operation can depend only on operations; a procedure becomes one when it is wrapped.
import Baton

struct WarmUp: Procedure {
    func execute(in context: OperationContext) async throws {}
}

func connect(_ operation: AnyOperation) {
    operation.addDependency(WarmUp())
}

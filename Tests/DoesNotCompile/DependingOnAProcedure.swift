// expect: cannot convert value of type 'WarmUp' to expected argument type 'AnyOperation'
// What is waited for is an operation, one planned run; a procedure has none until it is wrapped in one.
import Baton

struct WarmUp: Procedure {
    func execute(in context: OperationContext) async throws {}
}

func connect(_ operation: AnyOperation) {
    operation.addDependency(WarmUp())
}

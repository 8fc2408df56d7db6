// expect: use of local variable 'operation' before its declaration
// An input is given when the operation is made, so it cannot be the operation itself.
import Baton

struct Double: InputProcedure {
    func execute(_ input: Int, in context: OperationContext) async throws -> Int { 2 * input }
}

func connect() {
    let operation: AsyncOperation<Int> = AsyncOperation(Double(), input: operation)
    _ = operation
}

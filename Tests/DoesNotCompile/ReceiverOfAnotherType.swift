// expect: requires the types 'Result<String, OperationError>' and 'Result<Int, OperationError>' be equivalent
// A receiver accepts only operations whose output has its input type.
import Baton

struct Receive: InputProcedure {
    func execute(_ input: Result<String, OperationError>, in context: OperationContext) async throws {}
}

func connect(_ number: AsyncOperation<Int>) -> AsyncOperation<Void> {
    AsyncOperation(Receive(), resultOf: number)
}

// expect: requires the types 'Result<String, OperationError>' and 'Result<Int, OperationError>' be equivalent
// A receiver takes the outcome of an operation whose output is of the type that it wants.
import Baton

struct Receive: InputProcedure {
    func execute(_ input: Result<String, OperationError>, in context: OperationContext) async throws {}
}

func connect(_ number: AsyncOperation<Int>) -> AsyncOperation<Void> {
    AsyncOperation(Receive(), resultOf: number)
}

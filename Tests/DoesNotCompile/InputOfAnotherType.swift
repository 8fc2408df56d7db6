// expect: cannot convert value of type 'AsyncOperation<Int>' to expected argument type 'AsyncOperation<String>'
// The output of one operation can be the input of another only if the types are the same.
import Baton

struct Count: InputProcedure {
    func execute(_ input: String, in context: OperationContext) async throws -> Int { input.count }
}

func connect(_ number: AsyncOperation<Int>) -> AsyncOperation<Int> {
    AsyncOperation(Count(), input: number)
}

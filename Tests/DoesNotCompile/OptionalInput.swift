// expect: cannot convert value of type 'AsyncOperation<String?>' to expected argument type 'AsyncOperation<String>'
// An optional output cannot be the input of a procedure that takes a non-optional value; `unwrapped()` converts it.
import Baton

struct Count: InputProcedure {
    func execute(_ input: String, in context: OperationContext) async throws -> Int { input.count }
}

func connect(_ text: AsyncOperation<String?>) -> AsyncOperation<Int> {
    AsyncOperation(Count(), input: text)
}

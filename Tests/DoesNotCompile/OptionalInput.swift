// expect: cannot convert value of type 'AsyncOperation<String?>' to expected argument type 'AsyncOperation<String>'
// Also when only the one is optional: `unwrapped()` is the way.
import Baton

struct Count: InputProcedure {
    func execute(_ input: String, in context: OperationContext) async throws -> Int { input.count }
}

func connect(_ text: AsyncOperation<String?>) -> AsyncOperation<Int> {
    AsyncOperation(Count(), input: text)
}

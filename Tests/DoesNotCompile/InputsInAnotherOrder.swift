// expect: requires the types '(String, Int)' and '(Int, String)' be equivalent
// In the order in which it takes them.
import Baton

struct Join: InputProcedure {
    func execute(_ input: (String, Int), in context: OperationContext) async throws -> String { "\(input)" }
}

func connect(_ text: AsyncOperation<String>, _ number: AsyncOperation<Int>) -> AsyncOperation<String> {
    AsyncOperation(Join(), inputs: number, text)
}

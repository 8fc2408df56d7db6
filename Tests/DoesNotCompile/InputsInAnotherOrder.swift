// expect: requires the types '(String, Int)' and '(Int, String)' be equivalent
// The inputs have to be passed in the order in which the procedure takes them.
import Baton

struct Join: InputProcedure {
    func execute(_ input: (String, Int), in context: OperationContext) async throws -> String { "\(input)" }
}

func connect(_ text: AsyncOperation<String>, _ number: AsyncOperation<Int>) -> AsyncOperation<String> {
    AsyncOperation(Join(), inputs: number, text)
}

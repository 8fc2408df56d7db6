// expect: missing argument for parameter #3 in call
// A procedure gets as many inputs as it takes.
import Baton

struct Join: InputProcedure {
    func execute(_ input: (String, Int), in context: OperationContext) async throws -> String { "\(input)" }
}

func connect(_ text: AsyncOperation<String>) -> AsyncOperation<String> {
    AsyncOperation(Join(), inputs: text)
}

// expect: missing argument for parameter #3 in call
// A procedure needs all of its inputs.
import Baton

struct Join: InputProcedure {
    func execute(_ input: (String, Int), in context: OperationContext) async throws -> String { "\(input)" }
}

func connect(_ text: AsyncOperation<String>) -> AsyncOperation<String> {
    AsyncOperation(Join(), inputs: text)
}

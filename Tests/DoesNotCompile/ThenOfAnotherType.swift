// expect: instance method 'then' requires the types 'Int' and 'String' be equivalent
// Each step of a chain has to accept the output of the previous step.
import Baton

struct Count: InputProcedure {
    func execute(_ input: String, in context: OperationContext) async throws -> Int { input.count }
}

func connect(_ number: AsyncOperation<Int>) -> AsyncOperation<Int> {
    number.then(Count())
}

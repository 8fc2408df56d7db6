// expect: instance method 'then' requires the types 'Int' and 'String' be equivalent
// A chain fits together at every link.
import Baton

struct Count: InputProcedure {
    func execute(_ input: String, in context: OperationContext) async throws -> Int { input.count }
}

func connect(_ number: AsyncOperation<Int>) -> AsyncOperation<Int> {
    number.then(Count())
}

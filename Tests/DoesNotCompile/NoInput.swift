// expect: initializer 'init(_:)' requires that 'Count' conform to 'Procedure'
// A procedure that takes an input cannot be planned without one.
import Baton

struct Count: InputProcedure {
    func execute(_ input: String, in context: OperationContext) async throws -> Int { input.count }
}

func plan() -> AsyncOperation<Int> {
    AsyncOperation<Int>(Count())
}

// expect: type 'Guard' does not conform to protocol 'OperationCondition'
// A condition whose method has another name would let everything run.
import Baton

struct Guard: OperationCondition {
    func evaluate(of operation: AnyOperation) async throws -> ConditionResult { .skip("never") }
}

// expect: has different argument labels from those required by protocol 'OperationCondition' ('evaluate(for:)')
// A condition whose method has another name would let everything run.
import Baton

struct Guard: OperationCondition {
    func evaluate(of operation: AnyOperation) async throws -> ConditionResult { .skip("never") }
}

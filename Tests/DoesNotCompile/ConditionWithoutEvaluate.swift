// expect: has different argument labels from those required by protocol 'OperationCondition' ('evaluate(for:)')
// A condition whose method had another name would let every operation run.
import Baton

struct Guard: OperationCondition {
    func evaluate(of operation: AnyOperation) async throws -> ConditionResult { .skip("never") }
}

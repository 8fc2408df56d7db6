import Baton
import BatonTesting

struct EnoughSpace: OperationCondition {
    let free: @Sendable () -> Int
    func evaluate(for operation: AnyOperation) async throws -> ConditionResult {
        free() > 1_000_000_000 ? .satisfied : .skip("the disk is nearly full")
    }
}

print(await ConditionTrial(of: EnoughSpace { 5_000_000_000 }).verdict)  // satisfied
print(await ConditionTrial(of: EnoughSpace { 5 }).verdict)  // skipped: the disk is nearly full
print(await ConditionTrial(of: EnoughSpace { 5 }.negated).verdict)  // satisfied

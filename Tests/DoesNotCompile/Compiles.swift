// The control: this file is correct and compiles. If it did not, the errors in the other files would prove nothing.
import Baton

struct Fetch: Procedure {
    func execute(in context: OperationContext) async throws -> String { "data" }
}

struct Count: InputProcedure {
    func execute(_ input: String, in context: OperationContext) async throws -> Int { input.count }
}

struct Join: InputProcedure {
    func execute(_ input: (String, Int), in context: OperationContext) async throws -> String { "\(input)" }
}

// Long chains have to type-check within the compiler's time limit.
func chains(_ first: AsyncOperation<Int>) {
    _ = first.then { $0 + 1 }.then { $0 + 2 }.then { $0 + 3 }.then { $0 + 4 }.then { $0 + 5 }.then { $0 + 6 }.then {
        $0 + 7
    }
    .then { $0 + 8 }
    _ = AsyncOperation { "a" }.then { $0.count }.then { [$0] }.then { $0.count }.then { "\($0)" }.then { $0.count }
        .then { "\($0)" }.then(Count()).then { "\($0)" }
}

// Settings chain in any order, and a name comes first.
func settings(_ a: AsyncOperation<Int>, _ b: AsyncOperation<Int>, on queue: AsyncOperationQueue) {
    let sum: AsyncOperation<Int> = AsyncOperation("sum", a, b) { $0 + $1 }.priority(.high).retry(attempts: 3)
    let text = sum.then("write") { "\($0)" }.map("length") { $0.count }.then("double") { $0 * 2 }
    GroupOperation("all", .ordered, sum, text).add(to: queue)
    queue.add("log") { print("sum") }
    queue.addBarrier("flush") {}
    queue.addBarrier { 3 }
}

func work(on queue: AsyncOperationQueue) async -> String {
    let fetch = AsyncOperation(Fetch())
    let count = AsyncOperation(Count(), input: fetch)
    let join = AsyncOperation(Join(), inputs: fetch, count)
    let optional = AsyncOperation<String?> { nil }
    let unwrapped: AsyncOperation<String> = optional.unwrapped()
    let recount = unwrapped.then(Count())
    recount.addDependency(join)
    recount.didFinish { (result: Result<Int, OperationError>) in print(result) }
    do {
        return "\(try await queue.run(recount)) \(try await join.value)"
    } catch {
        let error: OperationError = error
        return "\(error)"
    }
}

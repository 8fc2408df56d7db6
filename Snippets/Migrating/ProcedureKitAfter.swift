import Baton

struct Unreachable: Error {}

struct DataFetch: Procedure {
    func execute(in context: OperationContext) async throws -> String {
        if context.attempt == 1 { throw Unreachable() }
        return "so much depends upon"
    }
}

struct DataProcessing: InputProcedure {
    func execute(_ input: String, in context: OperationContext) async throws -> Int {
        input.split(separator: " ").count
    }
}

let queue = AsyncOperationQueue()
let fetch = AsyncOperation(DataFetch())
    .retry(.exponential(from: .milliseconds(2)).capped(at: .seconds(1)), attempts: 3) { error in
        error.underlyingError is Unreachable
    }
let processing = fetch.then(DataProcessing()).addCondition(.mutuallyExclusive("index"))
let report = AsyncOperation("report") { print("reported") }  // reported
    .addDependency(processing)
    .addCondition(NoFailedDependencies())
try await queue.run(GroupOperation("import", processing, report))
print(fetch.attempts.count, processing.result!)  // 2 success(4)

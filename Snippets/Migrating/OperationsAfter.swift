import Baton

struct Folder: Sendable {
    let path: String
    func exists() async -> Bool { true }
    func create() async throws {}
}

struct FolderExists: OperationCondition {
    let folder: Folder
    func dependency(for operation: AnyOperation) -> AnyOperation? {
        AsyncOperation("create \(folder.path)") { try await folder.create() }
    }
    func evaluate(for operation: AnyOperation) async throws -> ConditionResult {
        await folder.exists() ? .satisfied : .skip("there is no \(folder.path)")
    }
}

struct DataRetrieval: Procedure {
    func execute(in context: OperationContext) async throws -> [UInt8] { [3, 1, 2] }
}

struct DataProcessing: InputProcedure {
    func execute(_ data: [UInt8], in context: OperationContext) async throws -> [UInt8] { data.sorted() }
}

let queue = AsyncOperationQueue()
let retrieval = AsyncOperation(DataRetrieval()).timeout(.seconds(30))
let processing = retrieval.then(DataProcessing())
    .addCondition(FolderExists(folder: Folder(path: "cache")))
    .addCondition(.mutuallyExclusive(DataProcessing.self))
    .didFinish { result in print(result) }  // success([1, 2, 3])
queue.add(retrieval, processing)
await queue.waitUntilIdle()

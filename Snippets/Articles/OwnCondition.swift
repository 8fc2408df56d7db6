import Baton

actor Disk {
    private(set) var folders: Set<String> = []
    func make(_ folder: String) { folders.insert(folder) }
}
let disk = Disk()

/// Satisfied if there is such a folder; makes it first.
struct FolderExists: OperationCondition {
    let folder: String
    var exclusions: [Exclusion] { [.mutuallyExclusive("folder \(folder)")] }
    func dependency(for operation: AnyOperation) -> AnyOperation? {
        AsyncOperation("make \(folder)") { await disk.make(folder) }
    }
    func evaluate(for operation: AnyOperation) async throws -> ConditionResult {
        await disk.folders.contains(folder) ? .satisfied : .skip("there is no \(folder)")
    }
}

let queue = AsyncOperationQueue()
let look = AsyncOperation("look") { print("never printed") }.addCondition(FolderExists(folder: "new").silent)
queue.add(look)  // silent: it only looks
await queue.waitUntilIdle()
print(look.result!)  // failure(skipped by a condition: there is no new)
let save = AsyncOperation("save") { print("saved") }.addCondition(FolderExists(folder: "new"))
try await queue.run(save)  // saved
let first = AsyncOperation("first") { print("never printed") }.addCondition(FolderExists(folder: "new").negated)
queue.add(first)
await queue.waitUntilIdle()
print(first.result!)  // failure(the condition ‘not FolderExists’ failed: ‘FolderExists’ is satisfied)

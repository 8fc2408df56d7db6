import Baton
import BatonTesting

let gate = Gate()
let upload = AsyncOperation("upload") { "sent" }.addCondition(GatedCondition(gate, name: "network"))
AsyncOperationQueue.shared.add(upload)
await gate.waitForWaiters(count: 1)
print(upload.explain())  // ‘upload’ waits for the answer of the condition ‘network’.
gate.open()
print(try await upload.value)  // sent

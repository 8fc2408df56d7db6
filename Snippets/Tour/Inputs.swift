import Baton

let queue = AsyncOperationQueue()
let name = AsyncOperation { "wheel barrow" }
let count = AsyncOperation { 3 }
let order = AsyncOperation(name, count) { name, count in "\(count) × \(name)" }
let shout = order.then { $0.uppercased() }
print(try await queue.run(shout))  // 3 × WHEEL BARROW

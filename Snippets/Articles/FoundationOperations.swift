import Baton
import BatonFoundation
import Foundation

// Theirs before ours.
let legacy = BlockOperation { print("the old part") }  // the old part
let next = AsyncOperation("next") { print("the new part") }.addDependency(legacy)  // the new part
let foundationQueue = OperationQueue()
foundationQueue.addOperation(legacy)
try await AsyncOperationQueue.shared.run(next)

// Ours in their queue, and before theirs.
let count = AsyncOperation("count") { 3 }
let counted = count.foundationOperation
let (shown, tell) = AsyncStream.makeStream(of: String.self)
let show = BlockOperation { tell.yield("counted \(count.result!)") }
show.addDependency(counted)
foundationQueue.addOperation(counted)
foundationQueue.addOperation(show)
for await line in shown {
    print(line)  // counted success(3)
    break
}

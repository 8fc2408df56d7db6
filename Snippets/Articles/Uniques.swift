import Baton

let queue = AsyncOperationQueue(isSuspended: true)
func avatar(_ policy: UniquenessPolicy) -> AsyncOperation<String> {
    AsyncOperation("avatar, \(policy)") { "the picture" }.unique(by: "ada.png", in: "avatars", policy: policy)
}

let first = avatar(.reject).add(to: queue)
let second = avatar(.reject).add(to: queue)  // while the first has not finished
let third = avatar(.join).add(to: queue)
queue.isSuspended = false
await queue.waitUntilIdle()
print(first.result!)  // success("the picture")
print(second.result!)  // failure(skipped, because ‘avatar, reject’ does the same already)
print(third.result!)  // success("the picture"), which is that of the first: nothing ran twice

queue.isSuspended = true
let old = avatar(.reject).add(to: queue)
let new = avatar(.replace).add(to: queue)
queue.isSuspended = false
await queue.waitUntilIdle()
print(old.result!)  // failure(cancelled because ‘avatar, replace’ has replaced it)
print(new.result!)  // success("the picture")

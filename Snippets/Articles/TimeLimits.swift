import Baton

let queue = AsyncOperationQueue()
let slow = AsyncOperation("slow") { try await Task.sleep(for: .seconds(60)) }.timeout(.milliseconds(10))
let stubborn = AsyncOperation("stubborn") {
    try? await Task.sleep(for: .seconds(60))  // wakes at the cancellation, and ignores it
    return "done all the same"
}.timeout(.milliseconds(10))
let forgotten = AsyncOperation("forgotten") {}  // nobody adds it
let patient = AsyncOperation("patient") {}.addDependency(forgotten).timeout(waiting: .milliseconds(10))
let tea = AsyncOperation("tea") { "tea" }.delayed(untilAtLeast: .milliseconds(20))  // its output, not before 20 ms
queue.add(slow, stubborn, patient)
print(try await queue.run(tea))  // tea
await queue.waitUntilIdle()
print(slow.result!)  // failure(timed out after 0.01 seconds)
print(stubborn.result!)  // success("done all the same")
print(patient.result!)  // failure(timed out after 0.01 seconds, while it waited for ‘forgotten’)

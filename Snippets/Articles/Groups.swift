import Baton

struct Unreachable: Error {}
let queue = AsyncOperationQueue()

let near = AsyncOperation("near") { throw Unreachable() }
let far = AsyncOperation("far") { print("asked the far one") }
try await queue.run(GroupOperation(.ordered, near, far, policy: .firstSuccess))  // asked the far one

let draft = AsyncOperation("draft") { print("wrote a draft") }  // wrote a draft
let check = AsyncOperation("check") { throw Unreachable() }
let publish = AsyncOperation("publish") { print("never printed") }
let release = GroupOperation("release", .ordered, draft, check, publish)  // fails fast
queue.add(release)
await queue.waitUntilIdle()
print(release.result!)  // failure(1 of the group failed: ‘check’: Unreachable())
print(publish.error!)  // skipped, because ‘check’ failed, and the ordered group goes on only after a success

let many = GroupOperation((1...100).map { _ in AsyncOperation {} }, maxConcurrentOperationCount: 10)
try await queue.run(many)
print(many.progress)  // 100 %

import Baton

let queue = AsyncOperationQueue(name: "pages", maxConcurrentOperationCount: 1)
let (stalls, tell) = AsyncStream.makeStream(of: StallReport.self)
queue.onStall(after: .milliseconds(20)) { report in tell.yield(report) }

let paper = AsyncOperation("paper") {}  // nobody adds it
let page = AsyncOperation("page") {}.addDependency(paper)
queue.add(page)
for await report in stalls {
    print(report.explanations[0])  // ‘paper’ was not added to any queue: add it, or use `run` or `add(to:)`.
    break
}
print(queue.snapshot().operations[0].cause)  // ‘page’ waits for ‘paper’.
print(page.explain().roots.map(\.cause))  // [Baton.Explanation.Cause.notAdded]
queue.add(paper)
await queue.waitUntilIdle()

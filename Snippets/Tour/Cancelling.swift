import Baton

let copy = AsyncOperation("copy") { context in
    context.progress.totalUnitCount = 4  // weighted children count, too: context.run(child, weight: 2)
    while true {
        try Task.checkCancellation()
        context.progress.advance()
        if context.progress.completedUnitCount == 3 { context.operation.cancel(reason: .because("it is enough")) }
    }
}.add(to: .shared)
for await progress in copy.progressUpdates where progress.isFinished { print(progress) }  // 3 of 4 (75 %)
print(copy.result!)  // failure(cancelled because it is enough)

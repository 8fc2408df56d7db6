import Baton

struct NoPaper: Error {}
let queue = AsyncOperationQueue()
let paper = AsyncOperation("paper") { () -> String in throw NoPaper() }
let text = paper.then { "\($0), written on" }
let letter = text.then { "\($0), sealed" }  // an input of an input
let late = AsyncOperation("late") { "never made" }
late.cancel(reason: .because("the post has gone"))
let rule = AsyncOperation("rule") { "never made" }.addCondition("is a weekday") { _ in .skip("Sunday") }
queue.add(paper, text, letter, rule)
await queue.waitUntilIdle()

for operation in [paper, text, letter, late, rule] {
    let error = operation.error!
    print(error.stage, error.publisher ?? "itself", error.underlyingError.map { "\($0)" } ?? "nobody threw")
}
// execution itself NoPaper()
// dependency paper NoPaper()
// dependency paper NoPaper()
// cancellation itself nobody threw
// condition Sunday nobody threw

import Baton

let letter = AsyncOperation("letter") { "Dear Ada" }
let reader = Task { try await letter.value }  // waits, because nobody has added ‘letter’
print(letter.explain())  // ‘letter’ was not added to any queue: add it, or use `run` or `add(to:)`.
letter.add(to: .shared)
print(try await reader.value)  // Dear Ada

// Or in one call:
print(try await AsyncOperationQueue.shared.run(AsyncOperation("postcard") { "Dear Bob" }))  // Dear Bob

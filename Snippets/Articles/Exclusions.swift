import Baton

let pages = AsyncOperationQueue(name: "pages")
let pictures = AsyncOperationQueue(name: "pictures")  // exclusions do not care which queue

let readers = (1...3).map { number in
    AsyncOperation("reader \(number)") { print("reads") }.addCondition(.mutuallyExclusive("cache", mode: .shared))
}
let writer = AsyncOperation("writer") { print("writes alone") }.addCondition(.mutuallyExclusive("cache"))
let large = AsyncOperation("large") { print("takes three of four") }.addCondition(.limited("memory", to: 4, weight: 3))
pages.add(readers)
pictures.add(writer, large)
await pages.waitUntilIdle()
await pictures.waitUntilIdle()

// A body holds the name, and awaits somebody who needs it: found, and not waited for.
let needs = AsyncOperation("needs") {}.addCondition(.mutuallyExclusive("cache"))
let holds = AsyncOperation("holds") { try await pages.run(needs) }.addCondition(.mutuallyExclusive("cache"))
pages.add(holds)
await pages.waitUntilIdle()
print(needs.error!.publisher!, needs.error!.stage)  // needs condition

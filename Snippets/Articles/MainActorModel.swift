import Baton
import BatonTesting

@MainActor final class SearchModel {
    private(set) var hits: [String] = []
    private let queue: AsyncOperationQueue
    private let find: @Sendable (_ text: String) async throws -> [String]

    init(queue: AsyncOperationQueue = .shared, find: @escaping @Sendable (_ text: String) async throws -> [String]) {
        self.queue = queue
        self.find = find
    }

    /// Called at every keystroke. It cancels the search for the previous text, which sleeps or is under way.
    func textDidChange(to text: String) {
        AsyncOperation("search for \(text)") { [find] context in
            try await context.sleep(for: .milliseconds(300))
            return try await find(text)
        }
        .unique(by: ObjectIdentifier(self), in: "search", policy: .replace)
        .didFinish { @MainActor [weak self] outcome in
            if case .success(let hits) = outcome { self?.hits = hits }
        }
        .add(to: queue)
    }
}

// The test: time stands still until it says otherwise, and no real time passes.
let clock = TestClock()
let queue = AsyncOperationQueue(clock: clock)
let searches = EventLog<String>()
let model = SearchModel(queue: queue) { text in
    searches(text)
    return ["a page about \(text)"]
}
for text in ["s", "sw", "swift"] {
    model.textDidChange(to: text)
    await clock.waitForSleepers(count: 1)
    clock.advance(by: .milliseconds(200))
}
print(searches.events)  // [], because no pause was long enough
clock.advance(by: .milliseconds(100))
await queue.waitUntilIdle()  // also for the handlers
print(searches.events)  // ["swift"]
print(model.hits)  // ["a page about swift"]

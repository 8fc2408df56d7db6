import Baton
import BatonTesting

extension AsyncOperationQueue {
    /// Runs the body when `pause` has gone by without another call that has this key.
    func debounce(_ key: String, by pause: Duration, _ body: @escaping @Sendable () async throws -> Void) {
        AsyncOperation(key) { try await body() }
            .delay(pause)
            .unique(by: key, in: "debounce", policy: .replace)
            .add(to: self)
    }
}

// In virtual time, as in a test.
try await exploring(seed: 1) { scheduler in
    let queue = AsyncOperationQueue(executor: scheduler, clock: scheduler.clock)
    let saved = EventLog<String>()
    for text in ["so", "so much", "so much depends"] {
        queue.debounce("draft", by: .seconds(2)) { saved(text) }
        try await scheduler.clock.sleep(for: .seconds(1))
    }
    await queue.waitUntilIdle()
    print(saved.events)  // ["so much depends"]
}

import Baton
import Dispatch
import Foundation

let queue = AsyncOperationQueue()

// Without this line the signal would still end the program at once.
signal(SIGINT, SIG_IGN)
let interrupts = DispatchSource.makeSignalSource(signal: SIGINT, queue: .global())
// @Sendable: in main.swift a closure belongs to the main actor, and Dispatch calls this one on another thread. Without the word the
// program is stopped there, in _dispatch_assert_queue_fail.
interrupts.setEventHandler { @Sendable [queue] in
    queue.cancelAll(reason: .because("of Ctrl-C"))
    signal(SIGINT, SIG_DFL)  // the second one ends the program at once
}
interrupts.resume()

let report = queue.add("report") {
    try await Task.sleep(for: .milliseconds(100))
    return "all is done"
}
do {
    print(try await report.value)
} catch {
    print(error)  // cancelled because of Ctrl-C
}

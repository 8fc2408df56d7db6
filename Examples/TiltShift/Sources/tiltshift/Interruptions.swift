internal import BatonTrace
internal import Dispatch
internal import Foundation

/// What happens at Ctrl-C, and when somebody asks the program to end: the first time it stops in good order, the second
/// time at once.
struct Interruptions {
    private let sources: [any DispatchSourceSignal]

    init(first: @escaping @Sendable () -> Void) {
        // One queue, so the handlers take turns.
        let queue = DispatchQueue(label: "interruptions")
        let count = Count()
        sources = [SIGINT, SIGTERM].map { number in
            // Not ignored, which programs that this one starts would inherit.
            signal(number) { _ in }
            let source = DispatchSource.makeSignalSource(signal: number, queue: queue)
            source.setEventHandler { @Sendable in
                count.value += 1
                if count.value == 1 { return first() }
                LiveView.restoreTerminal()
                _exit(Int32(Status.interrupted.rawValue))
            }
            source.resume()
            return source
        }
    }

    /// `@unchecked`: touched on one queue only.
    private final class Count: @unchecked Sendable {
        var value = 0
    }
}

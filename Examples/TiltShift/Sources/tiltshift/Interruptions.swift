internal import BatonTrace
internal import Dispatch
internal import Foundation

/// Handles Ctrl-C and requests to terminate: the first signal stops the program in an orderly way, the second one at
/// once.
struct Interruptions {
    private let sources: [any DispatchSourceSignal]

    init(first: @escaping @Sendable () -> Void) {
        // The handlers share a serial queue, so that they do not run at the same time.
        let queue = DispatchQueue(label: "interruptions")
        let count = Count()
        sources = [SIGINT, SIGTERM].map { number in
            // The signal is caught instead of ignored, because child processes would inherit that it is ignored.
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

    /// `@unchecked`: accessed on one serial queue only.
    private final class Count: @unchecked Sendable {
        var value = 0
    }
}

public import Baton

/// Shows the progress of a queue in a terminal: a bar for each stage, with counts, rate, time left, and failures.
///
/// ```swift
/// let view = LiveView(of: queue)
/// try await queue.run(everything)
/// await view.finish()
/// ```
///
/// **Output.** The view writes to standard error by default. On a terminal it redraws in place, so text that the
/// program prints in the meantime mixes with it. A pipe, a file, and a terminal with `TERM=dumb` get plain lines: the
/// beginning and the end of each stage, every failure with its error, the number of operations that failed because of
/// it, suspensions of the queue, and a summary. The view honours `NO_COLOR`. It asks for the size of the terminal at
/// each redraw, so the size may change.
///
/// **Waiting operations.** Operations that wait for an exclusion or for a rate are also counted separately, with its
/// name if they all wait for the same one. An operation that waited for a rate when the view was made counts as waiting
/// without a reason until its next event.
///
/// **Stages.** Each operation belongs to a stage, by default that of its name without the number at its end. The rate
/// is smoothed over the last 5 s, or over the last ten operations if these take longer. The time left is the number of
/// unfinished operations of the stage divided by that rate, and "?" as long as nothing has ended.
///
/// **Cost.** The view has two threads of its own: one counts, the other writes. Nothing of it runs on the queue's
/// executor, and a slow or stopped terminal delays neither operations nor counting. The view keeps numbers and not
/// events, and does not keep the queue alive. If the reader of its output is gone, the view ends silently.
///
/// **State of the terminal.** The view does not hide the cursor, scroll or switch screens. Between two redraws the
/// cursor is at the beginning of the row under the last line. Only a program that dies during a redraw leaves a part of
/// one; see ``restoreTerminal()``. The view itself does not change signal handling. If a terminal becomes too small for
/// the lines, those that have scrolled out at the top stay as they were.
///
/// A view that is released without ``finish()`` stops, and its last lines stay on the screen.
public final class LiveView: Sendable {
    private let driver: LiveDriver
    private let reader: Task<Void, Never>
    private let drawer: Task<Void, Never>

    /// Starts to show the operations that are in a queue and those that are added later.
    ///
    /// - Parameters:
    ///   - queue: The queue to show. The view does not keep it alive.
    ///   - options: The options of the view.
    ///   - clock: The clock that measures rates and the time between redraws. It need not be the clock of the queue.
    /// - Complexity: O(*n*), where *n* is the number of operations in the queue.
    public convenience init(
        of queue: AsyncOperationQueue, options: Options = Options(), clock: some Clock<Duration> = ContinuousClock()
    ) {
        self.init(of: queue, options: options, clock: clock, output: LiveOutput(options))
    }

    init(of queue: AsyncOperationQueue, options: Options, clock: some Clock<Duration>, output: LiveOutput) {
        let driver = LiveDriver(options, LivePace(clock, interval: options.interval), output)
        // The events are subscribed before the snapshot is taken: a change between the two is reported twice, and
        // counted once.
        let events = queue.events
        driver.count(queue.snapshot())
        let threads = ThreadExecutor(name: "live view", threads: 2)
        self.driver = driver
        reader = TaskFactory.services.spawn {
            await withTaskExecutorPreference(threads) { await driver.read(events) }
        }
        drawer = TaskFactory.services.spawn {
            await withTaskExecutorPreference(threads) { await driver.draw(events) }
        }
    }

    deinit {
        driver.abandon()
        reader.cancel()
        drawer.cancel()
    }

    /// Draws the last state and a summary, and returns when they have been written.
    ///
    /// The view then ends, even if the queue goes on. The summary includes all events that were emitted before the
    /// call, except that reading them stops after a minute. The method waits for a slow terminal, and cancelling the
    /// calling task does not interrupt it. Further calls return when the first one does, and write nothing.
    public func finish() async {
        reader.cancel()
        await reader.value
        drawer.cancel()
        await drawer.value
    }
}

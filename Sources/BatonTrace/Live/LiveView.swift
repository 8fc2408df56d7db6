public import Baton

/// Shows in a terminal what a queue does while it does it: a bar for each stage, with counts, rate, time left, and
/// failures.
///
/// ```swift
/// let view = LiveView(of: queue)
/// try await queue.run(everything)
/// await view.finish()
/// ```
///
/// **Where.** On standard error, unless told otherwise. A terminal is redrawn in place; what the program prints
/// meanwhile gets in the way. A pipe, a file, and a terminal that says `TERM=dumb` get plain lines: stages that begin
/// and end, every failure with its error, how many operations failed because of those, whether the queue is suspended,
/// and a summary. `NO_COLOR` is heeded. The size of the terminal is asked for at each redraw, so that it may change.
///
/// **Waiting.** Of the operations that wait, those that wait for an exclusion or for a rate are counted on their own,
/// with the name if there is one alone. What waited for a rate when the view was made counts as waiting until it is
/// told again.
///
/// **Stages.** Each operation belongs to one: by default that of its name without the number at its end. The rate is
/// smoothed over the last 5 s, or the last ten operations if these take longer; the time left is what is left of the
/// stage at that rate, and "?" as long as nothing has ended.
///
/// **Cost.** It has two threads of its own, one that counts and one that writes: nothing of it runs on the queue's
/// executor, and a terminal that is slow or stopped delays neither operations nor counting. It keeps numbers, not
/// events, and keeps no queue alive. If nobody reads what it writes any more, it ends and says nothing.
///
/// **The terminal stays as it was.** The cursor is never hidden, nothing is scrolled or switched, and between two
/// redraws the cursor is at the beginning of the line below. Only a program that dies in the middle of a redraw leaves
/// a piece of one; see ``restoreTerminal()``. The view itself changes no signal handling. Of a terminal that is made so
/// small that the lines do not fit any more, what has left it at the top stays as it was.
///
/// One that is released without ``finish()`` stops and leaves its last lines where they are.
public final class LiveView: Sendable {
    private let driver: LiveDriver
    private let reader: Task<Void, Never>
    private let drawer: Task<Void, Never>

    /// Begins to show what happens to the operations of a queue: those that are in it, and those that are added from
    /// now on.
    ///
    /// - Parameters:
    ///   - queue: Is not kept alive. Looking at what is in it takes as long as there are operations in it.
    ///   - options: What to show, and where.
    ///   - clock: Measures rates and the time between redraws. It need not be the clock of the queue.
    public convenience init(
        of queue: AsyncOperationQueue, options: Options = Options(), clock: some Clock<Duration> = ContinuousClock()
    ) {
        self.init(of: queue, options: options, clock: clock, output: LiveOutput(options))
    }

    init(of queue: AsyncOperationQueue, options: Options, clock: some Clock<Duration>, output: LiveOutput) {
        let driver = LiveDriver(options, LivePace(clock, interval: options.interval), output)
        // In this order: what happens between the two is told twice, and counted once.
        let events = queue.events
        driver.look(at: queue.snapshot())
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

    /// Draws the last state and a summary, and returns when they are written: what was told before is in them.
    ///
    /// The view ends with it, whatever the queue does then; reading what was told takes a minute at most. Awaits a
    /// terminal that is slow. Cancelling the calling task does not interrupt it; further calls return when the first
    /// does, and write nothing.
    public func finish() async {
        reader.cancel()
        await reader.value
        drawer.cancel()
        await drawer.value
    }
}

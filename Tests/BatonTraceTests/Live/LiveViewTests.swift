import Baton
import BatonTesting
import Testing

@testable import BatonTrace

@Suite(.timeLimit(.minutes(10))) struct LiveViewTests {
    @Test func pipeGetsALineForEachChangeAndASummary() async throws {
        let pipe = try Pipe()
        let queue = AsyncOperationQueue()
        let view = LiveView(of: queue, options: pipe.options(), clock: TestClock())
        for number in 1...20 { queue.add(AsyncOperation("load \(number)") {}) }
        queue.add(AsyncOperation("save") { throw Oops() })
        await queue.waitUntilIdle()
        await view.finish()
        let lines = pipe.read().split(separator: "\n").map(String.init)
        #expect(lines.contains("save failed: oops"))
        #expect(lines.contains { $0.hasPrefix("load: 20 done") })
        #expect(lines.last?.hasPrefix("21 operations: 20 done, 1 failed") == true)
        #expect(!lines.joined().contains("\u{1B}"))
    }

    @Test func everythingToldBeforeTheFinishIsShown() async throws {
        for _ in 0..<50 {
            let pipe = try Pipe()
            let queue = AsyncOperationQueue()
            let view = LiveView(of: queue, options: pipe.options(), clock: TestClock())
            queue.add((0..<200).map { AsyncOperation("o \($0)") {} })
            await queue.waitUntilIdle()
            await view.finish()
            #expect(pipe.read().hasSuffix("200 operations: 200 done in 0.0 s\n"))
        }
    }

    @Test func redrawsAtMostOnceInAnInterval() async throws {
        let pipe = try Pipe()
        let (queue, clock, gate) = (AsyncOperationQueue(), TestClock(), Gate())
        let view = LiveView(of: queue, options: pipe.options(.redrawn), clock: clock, output: pipe.output(.redrawn))
        await clock.waitForSleepers(count: 1)
        #expect(pipe.read() == "\rno operations yet\u{1B}[K\r\n")
        queue.add(AsyncOperation("load") { await gate.wait() })
        await gate.waitForWaiters(count: 1)
        clock.advance(by: .milliseconds(99))
        #expect(pipe.read() == "")
        // The view shows the start when its reader has received the event.
        var drawn = ""
        while !drawn.contains("1 running") {
            clock.advance(by: .milliseconds(100))
            await clock.waitForSleepers(count: 1)
            drawn += pipe.read()
        }
        #expect(drawn.hasPrefix("\r\u{1B}[1A"))
        gate.open()
        await queue.waitUntilIdle()
        await view.finish()
        #expect(pipe.read().contains(" 1/1\u{1B}[K"))
    }

    @Test func sizeIsAskedForAtEachRedraw() async throws {
        let pipe = try Pipe()
        let clock = TestClock()
        let size = Locked(LiveOutput.Size(columns: 80, rows: 24))
        let shared = Shared(size)
        let queue = AsyncOperationQueue(isSuspended: true)
        let operation = AsyncOperation(String(repeating: "long ", count: 30)) {}
        queue.add(operation)
        let output = pipe.output(.redrawn) { shared.size }
        let view = LiveView(of: queue, options: pipe.options(.redrawn), clock: clock, output: output)
        await clock.waitForSleepers(count: 1)
        _ = pipe.read()
        shared.size = LiveOutput.Size(columns: 10, rows: 24)
        clock.advance(by: .milliseconds(100))
        await clock.waitForSleepers(count: 1)
        // The narrower terminal has wrapped the previous line into eight lines, and the line about the suspension into
        // three.
        #expect(pipe.read() == "\r\u{1B}[11Along… 0/1\u{1B}[K\r\nthe queu…\u{1B}[K\r\n\u{1B}[J")
        operation.cancel()
        await view.finish()
    }

    @Test func operationsThatWereThereBeforeAreShown() async throws {
        let pipe = try Pipe()
        let (queue, gate) = (AsyncOperationQueue(), Gate())
        queue.add(AsyncOperation("old 1") { await gate.wait() }, AsyncOperation("old 2") { await gate.wait() })
        await gate.waitForWaiters(count: 2)
        let view = LiveView(of: queue, options: pipe.options(), clock: TestClock())
        gate.open()
        await queue.waitUntilIdle()
        await view.finish()
        #expect(pipe.read().hasSuffix("old: 2 done in 0.0 s\n2 operations: 2 done in 0.0 s\n"))
    }

    @Test func unfinishedWorkIsSummedUp() async throws {
        let pipe = try Pipe()
        let queue = AsyncOperationQueue(isSuspended: true)
        let view = LiveView(of: queue, options: pipe.options(), clock: TestClock())
        let operation = AsyncOperation("load") {}
        queue.add(operation)
        await view.finish()
        await view.finish()
        #expect(pipe.read() == "the queue is suspended\nload: 1 waiting\n1 operation: 1 waiting\n")
        operation.cancel()
    }

    @Test("Waits for exclusions are counted and named, also if they began before the view was made")
    func exclusionsAreCounted() async throws {
        for waitsBefore in [false, true] {
            let pipe = try Pipe()
            let (queue, gate) = (AsyncOperationQueue(), Gate())
            queue.add(AsyncOperation("holder") { await gate.wait() }.addCondition(.mutuallyExclusive("LiveViewTests")))
            await gate.waitForWaiters(count: 1)
            let exclusions = EventLog<Void>()
            queue.observe { event in if case .excluded = event.kind { exclusions(()) } }
            let early = waitsBefore ? nil : LiveView(of: queue, options: pipe.options(), clock: TestClock())
            queue.add(AsyncOperation("waiter") {}.addCondition(.mutuallyExclusive("LiveViewTests")))
            await exclusions.waitForCount(1)
            let view = early ?? LiveView(of: queue, options: pipe.options(), clock: TestClock())
            await view.finish()
            let text = pipe.read()
            #expect(text.contains("waiter: 1 waiting (1 for the exclusion ‘LiveViewTests’)\n"), "\(text)")
            gate.open()
            await queue.waitUntilIdle()
        }
    }

    @Test func stagesAreThoseOfTheClosure() async throws {
        let pipe = try Pipe()
        let queue = AsyncOperationQueue()
        var options = pipe.options()
        options.stage = { $0.name.hasPrefix("a") ? "first\n" : "second" }
        let view = LiveView(of: queue, options: options, clock: TestClock())
        queue.add(AsyncOperation("a") {}, AsyncOperation("b") {}, AsyncOperation("aa") {})
        await queue.waitUntilIdle()
        await view.finish()
        let text = pipe.read()
        #expect(text.contains("first : 2 done") && text.contains("second: 1 done"))
    }

    @Test func releasedViewStopsAndIsReleased() async throws {
        let pipe = try Pipe()
        let (queue, log) = (AsyncOperationQueue(), EventLog<String>())
        do {
            var options = pipe.options()
            let witness = Witness(log)
            options.stage = { _ in witness.name }
            _ = LiveView(of: queue, options: options, clock: TestClock())
        }
        await log.waitForCount(1)
        #expect(!pipe.read().contains("operations"))
        _ = queue
    }

    @Test func viewKeepsNoQueueAlive() async throws {
        let pipe = try Pipe()
        let view = {
            LiveView(of: AsyncOperationQueue(), options: pipe.options(), clock: TestClock())
        }()
        await view.finish()
        #expect(pipe.read() == "0 operations\n")
    }
}

struct Oops: Error, CustomStringConvertible {
    let description = "oops"
}

/// Records its release in the log.
private final class Witness: Sendable {
    let name = "stage"
    private let log: EventLog<String>

    init(_ log: EventLog<String>) { self.log = log }

    deinit { log("released") }
}

/// A terminal size that the test can change.
private final class Shared: Sendable {
    private let state: Locked<LiveOutput.Size>

    init(_ state: consuming Locked<LiveOutput.Size>) { self.state = state }

    var size: LiveOutput.Size {
        get { state.withLock { $0 } }
        set { state.withLock { $0 = newValue } }
    }
}

import Baton
import BatonTesting
import Foundation
import Testing

@testable import BatonTrace

@Suite(.timeLimit(.minutes(10))) struct LiveTerminalTests {
    @Test(arguments: [LiveView.Options.Style.lines, .redrawn])
    func brokenPipeEndsTheViewAndNothingElse(style: LiveView.Options.Style) async throws {
        let pipe = try Pipe()
        pipe.breakOff()
        let queue = AsyncOperationQueue()
        let view = LiveView(of: queue, options: pipe.options(style), clock: TestClock(), output: pipe.output(style))
        queue.add((0..<100).map { AsyncOperation("o \($0)") {} })
        await queue.waitUntilIdle()
        await view.finish()
        // `SIGPIPE` is neither left blocked on the writing thread nor ignored from now on.
        var action = sigaction()
        sigaction(SIGPIPE, nil, &action)
        var mask = sigset_t()
        pthread_sigmask(SIG_BLOCK, nil, &mask)
        #expect(sigismember(&mask, SIGPIPE) == 0)
    }

    @Test func brokenPipeLeavesNoSignalBehind() throws {
        let pipe = try Pipe()
        pipe.breakOff()
        #expect(!DescriptorWriter.write("nobody reads this", to: pipe.writeEnd))
        var pending = sigset_t()
        sigpending(&pending)
        #expect(sigismember(&pending, SIGPIPE) == 0)
    }

    @Test func closedDescriptorIsNoReasonToStop() {
        #expect(!DescriptorWriter.write("nowhere", to: -1))
    }

    @Test func stoppedTerminalHoldsNobodyUp() async throws {
        let pipe = try Pipe()
        pipe.fill()
        let queue = AsyncOperationQueue()
        let view = LiveView(
            of: queue, options: pipe.options(.redrawn), clock: TestClock(), output: pipe.output(.redrawn))
        // The queue becomes idle although the view cannot write.
        queue.add((0..<1000).map { AsyncOperation("o \($0)") {} })
        await queue.waitUntilIdle()
        _ = pipe.read()
        await view.finish()
        #expect(pipe.read().hasSuffix(" 1000/1000\u{1B}[K\r\n\u{1B}[J1000 operations: 1000 done in 0.0 s\n"))
    }

    @Test func descriptorThatDoesNotBlockIsWrittenToWhenItCan() async throws {
        let pipe = try Pipe()
        _ = fcntl(pipe.writeEnd, F_SETFL, O_NONBLOCK)
        // The text is many times larger than the buffer of a pipe.
        let text = String(repeating: "x", count: 2_000_000)
        let results = EventLog<Bool>()
        let queue = AsyncOperationQueue(executor: ThreadExecutor(threads: 1))
        queue.add(AsyncOperation { results(DescriptorWriter.write(text, to: pipe.writeEnd)) })
        var count = 0
        while results.count == 0 {
            count += pipe.read().utf8.count
            await Task.yield()
        }
        count += pipe.read().utf8.count
        #expect(results.events == [true])
        #expect(count == text.utf8.count)
    }

    #if os(Linux)
        @Test func sizeIsThatOfTheTerminal() throws {
            let terminal = try PseudoTerminal(columns: 33, rows: 7)
            var options = LiveView.Options()
            options.output = terminal.end
            #expect(LiveOutput(options).size() == LiveOutput.Size(columns: 33, rows: 7))
            terminal.resize(columns: 10, rows: 3)
            #expect(LiveOutput(options).size() == LiveOutput.Size(columns: 10, rows: 3))
            options.output = try Pipe().writeEnd
            #expect(LiveOutput(options).size() == LiveOutput.Size(columns: 80, rows: 24))
        }
    #endif

    @Test func terminalThatIsGivenBackOutsideOfARedrawIsLeftAlone() throws {
        let pipe = try Pipe()
        let redrawGuard = RedrawGuard()
        let isDrawn = redrawGuard.whileDrawing(on: pipe.writeEnd) { true }
        #expect(isDrawn)
        redrawGuard.close()
        #expect(pipe.read() == "")
        #expect(!redrawGuard.whileDrawing(on: pipe.writeEnd) { true })
    }

    @Test func redrawThatIsInterruptedEndsOnALineOfItsOwnWithoutColour() throws {
        let pipe = try Pipe()
        let redrawGuard = RedrawGuard()
        _ = redrawGuard.whileDrawing(on: pipe.writeEnd) {
            redrawGuard.close()
            redrawGuard.close()
            return true
        }
        #expect(pipe.read() == "\u{1B}[0m\r\n\u{1B}[J")
    }

    @Test(arguments: [LiveView.Options.Style.lines, .redrawn])
    func nothingIsWrittenAfterTheTerminalWasGivenBack(style: LiveView.Options.Style) async throws {
        let pipe = try Pipe()
        let (queue, clock, redrawGuard) = (AsyncOperationQueue(), TestClock(), RedrawGuard())
        let view = LiveView(
            of: queue, options: pipe.options(style), clock: clock, output: pipe.output(style, redrawGuard: redrawGuard))
        await clock.waitForSleepers(count: 1)
        redrawGuard.close()
        _ = pipe.read()
        queue.add(AsyncOperation("late") {})
        await queue.waitUntilIdle()
        await view.finish()
        #expect(pipe.read() == "")
    }

    @Test(arguments: [LiveView.Options.Style.lines, .redrawn])
    func whatTheViewAddsIsASCIIWhereNothingElseIsKnown(style: LiveView.Options.Style) async throws {
        let pipe = try Pipe()
        let output = pipe.output(style, locale: "C") { LiveOutput.Size(columns: 20, rows: 9) }
        var canvas = LiveCanvas(output, knowsTotals: true)
        canvas.end(LiveSnapshot(showing: (0..<40).map { stage("stage \($0)", waiting: 1) }))
        let text = pipe.read()
        #expect(text.contains("~"))
        #expect(text.utf8.allSatisfy { $0 < 0x80 })
    }

    @Test func signalsThatTheProgramHandlesAreLeftToIt() {
        // Test runners do not use this signal.
        signal(SIGUSR2, SIG_IGN)
        LiveView.restoreTerminalOnTermination(by: [SIGUSR2, 100_000])
        let ignoring = signal(SIGUSR2, SIG_DFL)
        #expect(ignoring.map { unsafeBitCast($0, to: Int.self) } == 1)
        LiveView.restoreTerminalOnTermination(by: [SIGUSR2])
        let ours = signal(SIGUSR2, SIG_DFL)
        #expect(ours != nil)
    }
}

#if os(Linux)
    /// A pseudo-terminal with a given number of columns and rows.
    private final class PseudoTerminal: Sendable {
        struct NoTerminal: Error {}

        private let master: CInt
        /// The descriptor to which programs write.
        let end: CInt

        init(columns: UInt16, rows: UInt16) throws {
            master = open("/dev/ptmx", O_RDWR | O_NOCTTY)
            var (isLocked, number) = (CInt(0), CInt(0))
            // The requests are TIOCSPTLCK and TIOCGPTN, because Swift does not import `ptsname`.
            guard ioctl(master, 0x4004_5431, &isLocked) == 0, ioctl(master, 0x8004_5430, &number) == 0 else {
                throw NoTerminal()
            }
            end = open("/dev/pts/\(number)", O_RDWR | O_NOCTTY)
            resize(columns: columns, rows: rows)
        }

        deinit {
            close(end)
            close(master)
        }

        func resize(columns: UInt16, rows: UInt16) {
            var size = winsize(ws_row: rows, ws_col: columns, ws_xpixel: 0, ws_ypixel: 0)
            _ = ioctl(master, UInt(TIOCSWINSZ), &size)
        }
    }
#endif

import BatonTesting
import Synchronization
import Testing

@testable import Baton

#if canImport(Darwin)
    import Darwin
#elseif canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#endif

/// Signals that the system ignores unless a handler is installed, so none of them can end the tests.
extension ShutdownSignal {
    fileprivate static let urgent = ShutdownSignal(rawValue: SIGURG)
    fileprivate static let windowChange = ShutdownSignal(rawValue: SIGWINCH)

    fileprivate func send() { kill(getpid(), rawValue) }

    /// Raises the signal on this thread, and returns when its handler has run. The thread may belong to Dispatch,
    /// whose threads block signals.
    fileprivate func raiseHere() {
        var signals = sigset_t()
        var former = sigset_t()
        sigemptyset(&signals)
        sigaddset(&signals, rawValue)
        pthread_sigmask(SIG_UNBLOCK, &signals, &former)
        defer { pthread_sigmask(SIG_SETMASK, &former, nil) }
        raise(rawValue)
    }

    /// True if no handler is installed, so the system's default applies.
    fileprivate var isLeftToTheSystem: Bool {
        var action = sigaction()
        sigaction(rawValue, nil, &action)
        #if canImport(Darwin)
            return action.__sigaction_u.__sa_handler == nil
        #else
            return action.__sigaction_handler.sa_handler == nil
        #endif
    }

    /// Returns when this number of calls waits for the signal.
    fileprivate func waitForSubscribers(count: Int) async {
        while SignalCenter.shared.subscriberCount(of: self) != count { await Task.yield() }
    }
}

/// The numbers of calls of the test's handlers. Signal handlers cannot capture anything.
private let handled = Atomic<Int>(0)
private let handledElsewhere = Atomic<Int>(0)

@Suite("A shutdown by signals", .serialized, .timeLimit(.minutes(10)))
struct SignalShutdownTests {
    private struct Harness {
        let clock = TestClock()
        let gate = Gate()
        let misuses: EventLog<Misuse>
        let queue: AsyncOperationQueue
        /// A body that waits at the gate until it is cancelled.
        let body: AsyncOperation<Void>

        init() async {
            let misuses = EventLog<Misuse>()
            self.misuses = misuses
            queue = AsyncOperationQueue(onMisuse: { misuses($0) })
            body = queue.add("body") { [gate] in try await gate.waitUnlessCancelled() }
            await gate.waitForWaiters(count: 1)
        }

        func shutdown(within limit: Duration = .seconds(10)) -> Task<ShutdownSignal?, Never> {
            Task { [queue, clock] in
                await queue.shutdown(on: .urgent, .windowChange, within: limit, clock: clock)
            }
        }
    }

    @Test("The first signal drains the queue, and then the signals are not caught any more")
    func drains() async {
        let rig = await Harness()
        let shutdown = rig.shutdown()
        await ShutdownSignal.windowChange.waitForSubscribers(count: 1)
        #expect(!ShutdownSignal.urgent.isLeftToTheSystem)
        ShutdownSignal.urgent.send()
        await rig.clock.waitForSleepers(count: 1)
        let late = rig.queue.add("late") {}
        #expect(late.ending == "queueShutDown")
        rig.clock.advance(by: .seconds(9))
        rig.gate.open()
        #expect(await shutdown.value == .urgent)
        #expect(rig.body.ending == "success")
        while rig.clock.sleeperCount > 0 { await Task.yield() }
        for signal in [ShutdownSignal.urgent, .windowChange] {
            #expect(signal.isLeftToTheSystem)
            #expect(SignalCenter.shared.subscriberCount(of: signal) == 0)
        }
    }

    @Test("The second signal cancels the remaining operations, and the third one is not caught")
    func secondSignalCancels() async {
        let rig = await Harness()
        let stubborn = rig.queue.add("stubborn") { [gate = rig.gate] in await gate.wait() }
        await rig.gate.waitForWaiters(count: 2)
        let shutdown = rig.shutdown()
        await ShutdownSignal.windowChange.waitForSubscribers(count: 1)
        ShutdownSignal.windowChange.send()
        await rig.clock.waitForSleepers(count: 1)
        ShutdownSignal.urgent.send()
        await #expect(throws: OperationError.self) { try await rig.body.value }
        #expect(rig.body.ending == "cancelled with everything in its queue")
        #expect(ShutdownSignal.urgent.isLeftToTheSystem && ShutdownSignal.windowChange.isLeftToTheSystem)
        #expect(stubborn.isCancelled && !stubborn.hasFinished)
        rig.gate.open()
        #expect(await shutdown.value == .windowChange)
        while rig.clock.sleeperCount > 0 { await Task.yield() }
    }

    @Test("The caller of the shutdown is notified of the first and the second signal")
    func tellsOfSignals() async {
        let rig = await Harness()
        let received = EventLog<String>()
        let shutdown = Task { [queue = rig.queue, clock = rig.clock] in
            await queue.shutdown(on: .urgent, .windowChange, within: .seconds(10), clock: clock) { signal in
                received("\(signal == .urgent ? "urgent" : "other"), closed: \(queue.isShuttingDown)")
            }
        }
        await ShutdownSignal.windowChange.waitForSubscribers(count: 1)
        #expect(!rig.queue.isShuttingDown)
        ShutdownSignal.urgent.send()
        await received.waitForCount(1)
        ShutdownSignal.windowChange.send()
        #expect(await shutdown.value == .urgent)
        #expect(await received.waitForCount(2) == ["urgent, closed: true", "other, closed: true"])
        while rig.clock.sleeperCount > 0 { await Task.yield() }
    }

    @Test("The closure runs on the executor of handlers, where it can block no timer")
    func executorOfTheClosure() async {
        let rig = await Harness()
        let runsWithHandlers = EventLog<Bool>()
        let shutdown = Task { [queue = rig.queue, clock = rig.clock] in
            await queue.shutdown(on: .urgent, .windowChange, within: .seconds(10), clock: clock) { _ in
                let handlers = ServiceExecutor.shared.asUnownedTaskExecutor()
                runsWithHandlers(withUnsafeCurrentTask { $0?.unownedTaskExecutor == handlers })
            }
        }
        await ShutdownSignal.windowChange.waitForSubscribers(count: 1)
        ShutdownSignal.urgent.send()
        #expect(await runsWithHandlers.waitForCount(1) == [true])
        ShutdownSignal.windowChange.send()
        #expect(await runsWithHandlers.waitForCount(2) == [true, true])
        _ = await shutdown.value
        while rig.clock.sleeperCount > 0 { await Task.yield() }
    }

    @Test("When the limit is reached, the remaining operations are cancelled")
    func limitCancels() async {
        let rig = await Harness()
        let shutdown = rig.shutdown()
        await ShutdownSignal.windowChange.waitForSubscribers(count: 1)
        rig.clock.advance(by: .seconds(100))
        #expect(rig.clock.sleeperCount == 0, "The limit begins with the signal.")
        ShutdownSignal.urgent.send()
        await rig.clock.waitForSleepers(count: 1)
        rig.clock.advance(by: .seconds(10))
        #expect(await shutdown.value == .urgent)
        #expect(rig.body.ending == "cancelled with everything in its queue")
    }

    @Test("A limit of zero or less cancels with the first signal", arguments: [Duration.zero, .seconds(-1)])
    func limitOfNothing(limit: Duration) async {
        let rig = await Harness()
        let shutdown = rig.shutdown(within: limit)
        await ShutdownSignal.windowChange.waitForSubscribers(count: 1)
        #expect(!rig.body.isCancelled)
        ShutdownSignal.urgent.send()
        #expect(await shutdown.value == .urgent)
        #expect(rig.body.ending == "cancelled with everything in its queue")
    }

    @Test("A signal reaches every queue that waits for it")
    func severalQueues() async {
        let rigs = [await Harness(), await Harness(), await Harness()]
        let shutdowns = rigs.map { $0.shutdown() }
        await ShutdownSignal.windowChange.waitForSubscribers(count: 3)
        ShutdownSignal.urgent.send()
        for rig in rigs { await rig.clock.waitForSleepers(count: 1) }
        rigs[0].gate.open()
        #expect(await shutdowns[0].value == .urgent)
        #expect(!ShutdownSignal.urgent.isLeftToTheSystem, "Two of them still wait.")
        ShutdownSignal.urgent.send()
        for shutdown in shutdowns { #expect(await shutdown.value == .urgent) }
        #expect(rigs.map(\.body.ending).filter { $0 == "success" }.count == 1)
        #expect(ShutdownSignal.urgent.isLeftToTheSystem)
    }

    @Test("Two calls for one queue both return")
    func twoCallsForOneQueue() async {
        let rig = await Harness()
        let shutdowns = [rig.shutdown(), rig.shutdown()]
        await ShutdownSignal.windowChange.waitForSubscribers(count: 2)
        ShutdownSignal.urgent.send()
        await rig.clock.waitForSleepers(count: 2)
        rig.gate.open()
        for shutdown in shutdowns { #expect(await shutdown.value == .urgent) }
    }

    @Test("Cancelling the caller cancels everything, whether a signal has come or not", arguments: [false, true])
    func cancelOfTheCaller(hasSignalCome: Bool) async {
        let rig = await Harness()
        let shutdown = rig.shutdown()
        await ShutdownSignal.windowChange.waitForSubscribers(count: 1)
        if hasSignalCome {
            ShutdownSignal.urgent.send()
            await rig.clock.waitForSleepers(count: 1)
        }
        shutdown.cancel()
        let signal = await shutdown.value
        #expect(signal == (hasSignalCome ? .urgent : nil))
        #expect(rig.body.ending == "cancelled with everything in its queue")
        #expect(rig.queue.add("late", {}).ending == "queueShutDown")
        #expect(ShutdownSignal.urgent.isLeftToTheSystem)
    }

    @Test("A call returns when its queue is drained by other code")
    func drainedElsewhere() async {
        let rig = await Harness()
        let shutdown = rig.shutdown()
        await ShutdownSignal.windowChange.waitForSubscribers(count: 1)
        async let drained: Void = rig.queue.drain()
        while rig.queue.add("late", {}).result == nil { await Task.yield() }
        rig.gate.open()
        await drained
        #expect(await shutdown.value == nil)
        #expect(rig.body.ending == "success")
        #expect(await rig.shutdown().value == nil, "It has been shut down.")
    }

    @Test("A signal starts the limit even if other code drains the queue")
    func signalWhileDrainedElsewhere() async {
        let rig = await Harness()
        let shutdown = rig.shutdown()
        await ShutdownSignal.windowChange.waitForSubscribers(count: 1)
        async let drained: Void = rig.queue.drain()
        while rig.queue.add("late", {}).result == nil { await Task.yield() }
        ShutdownSignal.urgent.send()
        await rig.clock.waitForSleepers(count: 1)
        rig.clock.advance(by: .seconds(10))
        await drained
        #expect(await shutdown.value == .urgent)
        #expect(rig.body.ending == "cancelled with everything in its queue")
    }

    @Test("In a body of the queue the call is misuse, and changes nothing")
    func inABodyOfItsOwn() async {
        let rig = await Harness()
        let inside = rig.queue.add("inside") { [queue = rig.queue] in
            await queue.shutdown(on: .urgent, within: .zero)
        }
        let signal = try! await inside.value
        #expect(signal == nil)
        #expect(rig.misuses.events.map(\.kind) == [.waitedForItsOwnQueue("shutdown")])
        #expect(ShutdownSignal.urgent.isLeftToTheSystem)
        rig.gate.open()
        #expect(rig.queue.add("late", {}).ending != "queueShutDown")
        await rig.queue.waitUntilIdle()
    }

    @Test("A body of another queue releases its permit while it waits for the signal")
    func inABodyOfAnotherQueue() async throws {
        let rig = await Harness()
        let other = AsyncOperationQueue(maxConcurrentOperationCount: 1)
        let waiting = other.add("waiting") { [queue = rig.queue] in
            await queue.shutdown(on: .urgent, within: .seconds(10))
        }
        await ShutdownSignal.urgent.waitForSubscribers(count: 1)
        try await other.add("beside it") {}.value
        rig.gate.open()
        ShutdownSignal.urgent.send()
        #expect(try await waiting.value == .urgent)
    }

    @Test("A signal that no program can catch is misuse, and the call waits for the others")
    func unusableSignals() async {
        let rig = await Harness()
        let unusable = [SIGKILL, SIGSTOP, SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGABRT, 0, -1, 1_000]
        for number in unusable {
            #expect(await rig.queue.shutdown(on: ShutdownSignal(rawValue: number), within: .zero) == nil)
        }
        let refused = rig.misuses.events.map { misuse -> Int32? in
            guard case .unusableSignal(let signal, let problem) = misuse.kind, !problem.isEmpty else { return nil }
            return misuse.callSite?.contains("SignalShutdownTests") == true ? signal.rawValue : nil
        }
        #expect(refused == unusable)
        #expect(!rig.body.isCancelled)
        let shutdown = Task { [queue = rig.queue] in
            await queue.shutdown(on: ShutdownSignal(rawValue: SIGKILL), .urgent, within: .zero)
        }
        await ShutdownSignal.urgent.waitForSubscribers(count: 1)
        ShutdownSignal.urgent.send()
        #expect(await shutdown.value == .urgent)
        #expect(rig.misuses.events.count == unusable.count + 1)
    }

    @Test("The program's own handler is restored when no call waits for the signal")
    func formerHandler() async {
        signal(SIGURG) { _ in handled.wrappingAdd(1, ordering: .relaxed) }
        defer { signal(SIGURG, SIG_DFL) }
        let before = handled.load(ordering: .relaxed)
        for _ in 0..<3 {
            let rig = await Harness()
            let shutdown = rig.shutdown(within: .zero)
            await ShutdownSignal.windowChange.waitForSubscribers(count: 1)
            ShutdownSignal.urgent.send()
            #expect(await shutdown.value == .urgent)
        }
        #expect(handled.load(ordering: .relaxed) == before)
        ShutdownSignal.urgent.raiseHere()
        #expect(handled.load(ordering: .relaxed) == before + 1)
    }

    @Test("A handler that is installed meanwhile stays, and is not mistaken for the former one")
    func handlerInstalledMeanwhile() async {
        defer { signal(SIGURG, SIG_DFL) }
        let rig = await Harness()
        let shutdown = rig.shutdown()
        await ShutdownSignal.windowChange.waitForSubscribers(count: 1)
        let ours = signal(SIGURG) { _ in handledElsewhere.wrappingAdd(1, ordering: .relaxed) }
        ShutdownSignal.urgent.raiseHere()
        #expect(handledElsewhere.load(ordering: .relaxed) == 1)
        ShutdownSignal.windowChange.send()
        await rig.clock.waitForSleepers(count: 1)
        rig.gate.open()
        #expect(await shutdown.value == .windowChange)
        ShutdownSignal.urgent.raiseHere()
        #expect(handledElsewhere.load(ordering: .relaxed) == 2)

        // Code that restores the former handler installs a handler of Baton's without subscribers.
        signal(SIGURG, ours)
        let next = await Harness()
        let nextShutdown = next.shutdown(within: .zero)
        await ShutdownSignal.windowChange.waitForSubscribers(count: 1)
        ShutdownSignal.urgent.send()
        #expect(await nextShutdown.value == .urgent)
        #expect(ShutdownSignal.urgent.isLeftToTheSystem)
    }
}

import Baton
import BatonProcess
import BatonTesting
import BatonTrace
import Foundation
import Testing

@Suite("Contents of traces")
struct TraceTests {
    private func trace(
        width: Int = 64, _ work: @Sendable (AsyncOperationQueue, TestClock) async throws -> Void
    ) async rethrows -> Trace {
        let clock = TestClock()
        let queue = AsyncOperationQueue(maxConcurrentOperationCount: width, clock: clock)
        let recorder = TraceRecorder(of: queue)
        try await work(queue, clock)
        return await recorder.trace()
    }

    /// Records the events of waits for exclusions.
    private func notes(_ queue: AsyncOperationQueue) -> EventLog<String> {
        let notes = EventLog<String>()
        queue.observe { event in
            switch event.kind {
            case .excluded, .granted: notes("\(event)")
            default: break
            }
        }
        return notes
    }

    private func waits(of name: String, in trace: Trace) -> Set<TracedWait.Reason> {
        Set(trace.operations.filter { $0.name == name }.flatMap { $0.waits(until: trace.end) }.map(\.reason))
    }

    // MARK: Waits

    @Test("A wait is a delay only if the operation has one, however long the wait is")
    func delaysAreDelays() async throws {
        let trace = try await trace(width: 1) { queue, clock in
            let gate = Gate()
            let first = queue.add("first") { await gate.wait() }
            await gate.waitForWaiters(count: 1)
            let plain = AsyncOperation("plain") {}.addDependency(first)
            let delayed = AsyncOperation<Void>.delay(.seconds(5))
            delayed.name = "delayed"
            delayed.addDependency(first)
            queue.add(plain)
            queue.add(delayed)
            clock.advance(by: .seconds(1))
            gate.open()
            try await plain.value
            await clock.waitForSleepers(count: 1)
            clock.advance(by: .seconds(5))
            try await delayed.value
        }
        #expect(!waits(of: "plain", in: trace).contains(.delay))
        let delay = try #require(trace.operations.first { $0.name == "delayed" })
        #expect(delay.waits(until: trace.end).filter { $0.reason == .delay }.map(\.duration) == [.seconds(5)])
    }

    @Test("A wait for an exclusion is recorded as such, and not as a wait for the queue")
    func exclusionsAreExclusions() async throws {
        let trace = try await trace { queue, clock in
            let (gate, notes) = (Gate(), notes(queue))
            let holder = AsyncOperation("holder") { await gate.wait() }.addCondition(.limited("TraceTests", to: 1))
            let waiter = AsyncOperation("waiter") {}.addCondition(.limited("TraceTests", to: 1))
            queue.add(holder)
            await gate.waitForWaiters(count: 1)
            queue.add(waiter)
            await notes.waitForCount(1)
            #expect(notes.events == ["‘waiter’ waits for the exclusion ‘TraceTests’, after ‘holder’"])
            clock.advance(by: .seconds(3))
            gate.open()
            try await waiter.value
        }
        let waiter = try #require(trace.operations.first { $0.name == "waiter" })
        let waited = waiter.waits(until: trace.end).filter { $0.duration >= .seconds(1) }
        #expect(waited.map(\.reason) == [.exclusion])
        #expect(waited.map(\.name) == ["‘TraceTests’"])
        #expect(waiter.attempts[0].obstacles.first?.holder?.name == "holder")
        #expect(trace.summary().description.contains("3.00 s for the exclusion ‘TraceTests’"))
        #expect(trace.chromeTrace().contains("‘TraceTests’"))
        let written = try JSONDecoder().decode(Trace.self, from: JSONEncoder().encode(trace))
        #expect(written.operations.flatMap { $0.waits(until: written.end) }.contains(waited[0]))
    }

    @Test("A wait for a permit after that for an exclusion is recorded as a wait for the queue")
    func permitAfterTheExclusion() async throws {
        let trace = try await trace(width: 1) { queue, clock in
            let (held, full, notes) = (Gate(), Gate(), notes(queue))
            let elsewhere = AsyncOperationQueue()
            elsewhere.add(
                AsyncOperation("holder") { await held.wait() }.addCondition(.mutuallyExclusive("TraceTests.2")))
            await held.waitForWaiters(count: 1)
            let waiter = AsyncOperation("waiter") {}.addCondition(.mutuallyExclusive("TraceTests.2"))
            queue.add(waiter)
            await notes.waitForCount(1)
            queue.add("full") { await full.wait() }
            await full.waitForWaiters(count: 1)
            clock.advance(by: .seconds(3))
            held.open()
            await notes.waitForCount(2)
            clock.advance(by: .seconds(5))
            full.open()
            try await waiter.value
        }
        let waiter = try #require(trace.operations.first { $0.name == "waiter" })
        let waited = waiter.waits(until: trace.end).filter { $0.duration >= .seconds(1) }
        #expect(waited.map(\.reason) == [.exclusion, .queue])
        #expect(waited.map(\.duration) == [.seconds(3), .seconds(5)])
    }

    @Test("A wait for a rate is recorded with its name, also if the operation needs an exclusion")
    func ratesAreRates() async throws {
        let trace = try await trace(width: 1) { queue, clock in
            let calls = (0..<2).map { number in
                AsyncOperation("call \(number)") {}.addCondition(.mutuallyExclusive("TraceTests.3"))
                    .addCondition(.rate("TraceTests", 1, per: .seconds(7)))
            }
            queue.add(calls)
            try await calls[0].value
            await clock.waitForSleepers(count: 1)
            clock.advance(by: .seconds(7))
            try await calls[1].value
        }
        let second = try #require(trace.operations.first { $0.name == "call 1" })
        let waited = second.waits(until: trace.end).filter { $0.duration >= .seconds(1) }
        #expect(waited.map(\.reason) == [.rate])
        #expect(waited.first?.name == "‘TraceTests’ (1 in 7 seconds)")
        #expect(trace.summary().description.contains("7.00 s for the rate ‘TraceTests’ (1 in 7 seconds)"))
        #expect(!waits(of: "call 0", in: trace).contains(.rate))
    }

    @Test("A wait for a suspended queue is recorded only for operations that it delays")
    func suspensionsAreSuspensions() async throws {
        let trace = try await trace { queue, clock in
            let gate = Gate()
            let parent = AsyncOperation("parent") { context in
                await gate.wait()
                try await context.run(AsyncOperation("child") {})
            }
            queue.add(parent)
            await gate.waitForWaiters(count: 1)
            queue.isSuspended = true
            queue.isSuspended = true
            let waiter = AsyncOperation("waiter") {}
            queue.add(waiter)
            clock.advance(by: .seconds(4))
            gate.open()
            try await parent.value
            queue.isSuspended = false
            try await waiter.value
        }
        #expect(trace.suspensions.map(\.start) == [.zero] && trace.suspensions.map(\.end) == [.seconds(4)])
        let waiter = try #require(trace.operations.first { $0.name == "waiter" })
        let waited = waiter.waits(until: trace.end).filter { $0.duration >= .seconds(1) }
        #expect(waited.map(\.reason) == [.suspension] && waited.map(\.duration) == [.seconds(4)])
        #expect(!waits(of: "child", in: trace).contains(.suspension))
        #expect(trace.summary().description.contains("4.00 s for the suspended queue"))
        let written = try JSONDecoder().decode(Trace.self, from: JSONEncoder().encode(trace))
        #expect(written == trace)
    }

    @Test("A recorder that is made while the queue is suspended records the suspension")
    func suspendedBefore() async throws {
        let clock = TestClock()
        let queue = AsyncOperationQueue(isSuspended: true, clock: clock)
        let waiter = queue.add("waiter") {}
        clock.advance(by: .seconds(1))
        let recorder = TraceRecorder(of: queue)
        clock.advance(by: .seconds(2))
        let before = await recorder.trace()
        #expect(before.suspensions.map(\.start) == [.seconds(1)] && before.suspensions.first?.end == nil)
        queue.isSuspended = false
        try await waiter.value
        #expect(await recorder.trace().suspensions.map(\.end) == [.seconds(3)])
    }

    // MARK: The critical path

    @Test("An operation that never ran does not end the critical path")
    func pathEndsWithARun() async {
        let trace = await trace { queue, clock in
            let gate = Gate()
            let long = AsyncOperation<Int>("long") {
                await gate.wait()
                throw CancellationError()
            }
            let last = AsyncOperation("never") {}.addDependency(long, on: .success)
            queue.add(long)
            queue.add(last)
            await gate.waitForWaiters(count: 1)
            clock.advance(by: .seconds(3))
            gate.open()
            _ = try? await last.value
        }
        #expect(trace.criticalPath().operations.map(\.name) == ["long"])
    }

    @Test("If nothing ran, there is no critical path")
    func pathWithoutRuns() async {
        let trace = await trace { queue, clock in
            let never = AsyncOperation("never") {}.addCondition("no") { _ in .skip("not today") }
            queue.add(never)
            _ = try? await never.value
        }
        #expect(trace.operations.map(\.outcome) == [.skipped])
        #expect(trace.criticalPath().operations.isEmpty)
    }

    @Test("An operation that still waits does not end the critical path of operations that ran")
    func pathOfAStuckTrace() async throws {
        let trace = try await trace { queue, clock in
            let gate = Gate()
            let ran = queue.add("ran") { await gate.wait() }
            await gate.waitForWaiters(count: 1)
            clock.advance(by: .seconds(1))
            gate.open()
            try await ran.value
            let missing = AsyncOperation("missing") {}
            queue.add(AsyncOperation("stuck") {}.addDependency(missing))
            clock.advance(by: .seconds(9))
        }
        #expect(trace.criticalPath().operations.map(\.name) == ["ran"])
    }

    // MARK: Stages

    @Test(
        "Only a number at its end is removed from a name to get the stage",
        arguments: [
            ("resize (large)", "resize (large)"), ("__proto__", "__proto__"), ("n1[\"x\"]", "n1[\"x\"]"),
            ("end.", "end."),
            ("page 12", "page"), ("page (12)", "page"), ("part_1/20", "part"), ("12", "12"), ("f()", "f()"),
        ])
    func stages(name: String, stage: String) {
        #expect(Trace.stageName(of: AsyncOperation(name) {}.reference) == stage)
    }

    // MARK: Hostile text

    /// Text that sets the title of a terminal, clears it, reverses the writing direction, and begins a new line.
    private static let hostile = "a\u{1B}]0;owned\u{7}\u{1B}[2J\u{202E}b\nc\u{9B}31m"

    private func isHarmless(_ text: String) -> Bool {
        !text.unicodeScalars.contains { scalar in
            (scalar.value < 0x20 && scalar != "\n") || (0x7F...0x9F).contains(scalar.value)
                || (0x202A...0x202E).contains(scalar.value) || (0x2066...0x2069).contains(scalar.value)
        }
    }

    @Test("Names and errors reach terminals and pages without control characters")
    func textOfOthers() async throws {
        struct Hostile: Error, CustomStringConvertible { var description: String { TraceTests.hostile } }
        let trace = await trace { queue, clock in
            let name = "\(Self.hostile) \(UInt64.random(in: 0...(.max)))"
            let exclusion = Exclusion.mutuallyExclusive(name)
            let begun = Gate()
            let first = AsyncOperation<Int>("\(Self.hostile) 1") {
                await begun.wait()
                // Only what takes time is named in a summary.
                clock.advance(by: .seconds(1))
                throw Hostile()
            }
            let second = AsyncOperation<Int>("\(Self.hostile) 2") {
                clock.advance(by: .seconds(1))
                return 2
            }
            queue.add(first.addCondition(exclusion))
            await begun.waitForWaiters(count: 1)
            queue.add(second.addCondition(exclusion))
            await eventually { second.explain().waits.count > 0 }
            begun.open()
            _ = try? await second.value
        }
        let summary = trace.summary().description
        #expect(isHarmless(summary), "\(summary.debugDescription)")
        for part in ["Exclusions and rates: ", "Critical path, ", "What to speed up first:"] {
            #expect(summary.contains(part), "\(summary)")
        }
        #expect(
            summary.split(separator: "\n").count == trace.summary().description.split(whereSeparator: \.isNewline).count
        )
        #expect(isHarmless(trace.dot()) && isHarmless(trace.mermaid()))
        // The page must not contain control characters as escapes either, because its script would decode them.
        let page = trace.timeline()
        #expect(isHarmless(page))
        for escape in ["\\u001b", "\\u0007", "\\u009b", "\\u202e"] { #expect(!page.lowercased().contains(escape)) }
        for error in [
            SubprocessError.exited(program: Self.hostile, status: 1, errors: Self.hostile),
            .lineTooLong(program: Self.hostile, limit: 1), .notFound(program: Self.hostile, searched: [Self.hostile]),
        ] {
            #expect(isHarmless("\(error)"))
        }
        #expect(isHarmless("\(TraceError.notWritten(path: Self.hostile, reason: Self.hostile))"))
    }

    // MARK: Files

    @Test("A picture that is written to a link replaces the target of the link", arguments: [true, false])
    func pictureThroughALink(isThere: Bool) async throws {
        let folder = try TemporaryFolder()
        if isThere { try Data("old".utf8).write(to: URL(fileURLWithPath: folder.path("target"))) }
        try folder.link("link", to: "target")
        try await trace { _, _ in }.write(.dot, to: folder.path("link"))
        #expect(folder.target(of: "link") == "target")
        #expect(folder.read("target")?.hasPrefix("digraph") == true)
    }
}

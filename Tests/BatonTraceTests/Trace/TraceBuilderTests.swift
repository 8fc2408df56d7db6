import Testing

@testable import Baton
@testable import BatonTrace

/// Tests the records that are built from events, without a queue.
@Suite(.timeLimit(.minutes(10))) struct TraceBuilderTests {
    @Test("A wait for the queue is not a delay, however long it is")
    func queueIsNoDelay() {
        var operation = TracedOperation(.sketched(1, "a"))
        operation.added = .zero
        operation.attempts = [.init(number: 1, ready: .milliseconds(50))]
        operation.attempts[0].start = .milliseconds(51)
        let waits = operation.waits(until: .seconds(1))
        #expect(waits.map(\.reason) == [.queue])
        #expect(waits.first?.duration == .milliseconds(51))
    }

    struct Oops: Error, CustomStringConvertible { let description: String }

    let a = OperationReference.sketched(1, "a")
    let b = OperationReference.sketched(2, "b")

    /// Returns one event for each millisecond, beginning at 1.
    private func events(_ kinds: [(OperationReference, OperationEvent.Kind)]) -> [OperationEvent] {
        kinds.enumerated().map { place, event in
            OperationEvent(
                number: UInt64(place + 1), time: .milliseconds(place + 1),
                subject: EventSubject(event.0, in: QueueReference(name: "q", number: 7)), kind: event.1)
        }
    }

    private func trace(_ kinds: [(OperationReference, OperationEvent.Kind)]) -> Trace { Trace(of: events(kinds)) }

    /// Returns waits such as "queue 1-3", in milliseconds.
    private func waits(_ kinds: [OperationEvent.Kind]) -> [String] {
        let trace = trace(kinds.map { (a, $0) })
        return trace.operations[0].waits(until: trace.end).map {
            "\($0.reason) \($0.name.map { $0 + " " } ?? "")"
                + "\($0.start.nanoseconds / 1_000_000)-\($0.end.nanoseconds / 1_000_000)"
        }
    }

    static let success = OperationEvent.Kind.finished(.success, error: nil)
    static let retry = OperationEvent.Kind.retrying(
        attempt: 1, error: .failed(Oops(description: "oops")), delay: .seconds(1))
    static let excluded = OperationEvent.Kind.excluded(by: .sketched(2, "b"), exclusion: "‘db’")
    static let again = OperationEvent.Kind.repeating(delay: .seconds(2))

    static let lives: [([OperationEvent.Kind], [String])] = [
        ([.added(edges: []), .ready, .started(attempt: 1), success], ["queue 1-3"]),
        ([.added(edges: []), .waiting, .ready, .started(attempt: 1), success], ["dependencies 1-3", "queue 3-4"]),
        (
            [.added(edges: []), .evaluating, .ready, .started(attempt: 1), success],
            ["queue 1-2", "conditions 2-3", "queue 3-4"]
        ),
        (
            [.added(edges: []), .ready, .started(attempt: 1), retry, .ready, .started(attempt: 2), success],
            ["queue 1-3", "pause 4-5", "queue 5-6"]
        ),
        (
            [.added(edges: []), .ready, .started(attempt: 1), again, .ready, .started(attempt: 1), success],
            ["queue 1-3", "pause 4-5", "queue 5-6"]
        ),
        ([.added(edges: []), .ready, .started(attempt: 1), retry, success], ["queue 1-3", "pause 4-5"]),
        ([.added(edges: []), .waiting, .cancelRequested(.requested), success], ["dependencies 1-4"]),
        ([.added(edges: []), .evaluating, success], ["queue 1-2", "conditions 2-3"]),
        ([.added(edges: []), .ready, success], ["queue 1-3"]),
        (
            [.added(edges: []), .delayed, .ready, .started(attempt: 1), success],
            ["queue 1-2", "delay 2-3", "queue 3-4"]
        ),
        (
            [.added(edges: []), .waiting, .delayed, .evaluating, .ready, .started(attempt: 1), success],
            ["dependencies 1-3", "delay 3-4", "conditions 4-5", "queue 5-6"]
        ),
        (
            [.added(edges: []), .ready, .acquiring, .started(attempt: 1), success],
            ["queue 1-3", "exclusion 3-4"]
        ),
        (
            [.added(edges: []), .ready, .acquiring, excluded, .granted, .started(attempt: 1), success],
            ["queue 1-3", "exclusion ‘db’ 3-5", "queue 5-6"]
        ),
        (
            [.added(edges: []), .ready, .waitingForRate("‘api’"), .granted, .started(attempt: 1), success],
            ["queue 1-3", "rate ‘api’ 3-4", "queue 4-5"]
        ),
        (
            [
                .added(edges: []), .ready, .acquiring, .waitingForRate("‘api’"), .granted, .acquiring, excluded,
                .granted,
                .started(attempt: 1), success,
            ],
            ["queue 1-4", "rate ‘api’ 4-5", "queue 5-6", "exclusion ‘db’ 6-8", "queue 8-9"]
        ),
        // The exclusion was granted before its name was known.
        (
            [.added(edges: []), .ready, .acquiring, .granted, .started(attempt: 1), success],
            ["queue 1-3", "exclusion 3-4", "queue 4-5"]
        ),
        // The event of the grant was dropped.
        ([.added(edges: []), .ready, excluded, .started(attempt: 1), success], ["queue 1-3", "exclusion ‘db’ 3-4"]),
        ([.added(edges: []), .ready, excluded, success], ["queue 1-3", "exclusion ‘db’ 3-4"]),
        ([.added(edges: []), .ready, excluded], ["queue 1-3"]),
        ([excluded, .granted, .started(attempt: 1), success], ["exclusion ‘db’ 1-2", "queue 2-3"]),
        (
            [
                .added(edges: []), .ready, .started(attempt: 1), retry, .ready, excluded, .granted,
                .started(attempt: 2),
                success,
            ],
            ["queue 1-3", "pause 4-5", "queue 5-6", "exclusion ‘db’ 6-7", "queue 7-8"]
        ),
        ([.started(attempt: 1), success], []),
        ([success], []),
    ]

    @Test(arguments: lives.indices) func aLifeIsDividedIntoWaits(_ place: Int) {
        let (life, expected) = Self.lives[place]
        #expect(waits(life) == expected)
    }

    @Test("An obstacle has its name and its holder")
    func obstaclesAreNamed() {
        let trace = trace([(a, .added(edges: [])), (a, .ready), (a, .acquiring), (a, Self.excluded)])
        let obstacle = trace.operations[0].attempts[0].obstacles.first
        #expect(obstacle?.reason == .exclusion && obstacle?.name == "‘db’" && obstacle?.holder == b)
        #expect(obstacle?.start == .milliseconds(3) && obstacle?.end == nil)
    }

    // MARK: Suspensions

    /// Returns the waits of operation `a`, such as "queue 1-3", in milliseconds, in a queue that is suspended in these
    /// ranges.
    private func waits(
        _ kinds: [OperationEvent.Kind], parent: OperationReference? = nil, suspended: [ClosedRange<Int>], to end: Int
    ) -> [String] {
        var builder = TraceBuilder(queue: nil, start: .zero)
        for (place, kind) in kinds.enumerated() {
            builder.add(
                OperationEvent(
                    number: UInt64(place + 1), time: .milliseconds(place + 1),
                    subject: EventSubject(a, childOf: parent, in: nil), kind: kind))
        }
        for time in suspended {
            builder.add(SuspensionChange(time: .milliseconds(time.lowerBound), isSuspended: true))
            if time.upperBound < end {
                builder.add(SuspensionChange(time: .milliseconds(time.upperBound), isSuspended: false))
            }
        }
        let trace = builder.trace(at: .milliseconds(end))
        return trace.operations[0].waits(until: trace.end).map {
            "\($0.reason) \($0.start.nanoseconds / 1_000_000)-\($0.end.nanoseconds / 1_000_000)"
        }
    }

    @Test("A wait for a suspended queue is distinguished from a wait for a permit")
    func suspensionsAreToldApart() {
        let life = [
            OperationEvent.Kind.added(edges: []), .ready, .progress(0), .progress(0), .progress(0),
            .started(attempt: 1),
        ]
        #expect(waits(life, suspended: [2...4], to: 9) == ["queue 1-2", "suspension 2-4", "queue 4-6"])
        #expect(waits(life, suspended: [0...6], to: 9) == ["suspension 1-6"])
        #expect(waits(life, suspended: [2...3, 4...5], to: 9).count == 5)
        // The operation started during the suspension, which therefore did not delay it.
        #expect(waits(life, suspended: [2...8], to: 9) == ["queue 1-6"])
        #expect(waits(life, suspended: [7...9], to: 9) == ["queue 1-6"])
        // One operation still waits, and one ends before it runs.
        #expect(waits([.added(edges: []), .ready], suspended: [2...9], to: 9) == ["queue 1-2", "suspension 2-9"])
        #expect(waits([.added(edges: []), .ready, Self.success], suspended: [0...9], to: 9) == ["suspension 1-3"])
        // Only a wait for the queue becomes a wait for its resumption.
        #expect(
            waits(
                [.added(edges: []), .ready, Self.excluded, .granted, .started(attempt: 1)], suspended: [2...5], to: 9)
                == ["queue 1-3", "exclusion 3-4", "suspension 4-5"])
    }

    @Test("Children of a running body run in a suspended queue")
    func childrenAreNotSuspended() {
        let life = [OperationEvent.Kind.added(edges: []), .ready, .progress(0), .started(attempt: 1)]
        #expect(waits(life, parent: b, suspended: [2...3], to: 9) == ["queue 1-4"])
    }

    @Test("Each operation has only a few waits, however often its queue is suspended")
    func manySuspensions() {
        var builder = TraceBuilder(queue: nil, start: .zero)
        for id in 1...2000 as ClosedRange<UInt64> {
            let subject = EventSubject(.sketched(id, "o"), in: nil)
            builder.add(OperationEvent(number: 2 * id, time: .zero, subject: subject, kind: .added(edges: [])))
            builder.add(OperationEvent(number: 2 * id + 1, time: .zero, subject: subject, kind: .ready))
        }
        for time in 0..<20_000 {
            builder.add(SuspensionChange(time: .milliseconds(time), isSuspended: time % 2 == 0))
        }
        let trace = builder.trace(at: .seconds(20))
        #expect(trace.suspensions.count == 10_000)
        #expect(trace.operations.allSatisfy { $0.suspensions.count == 8 })
        let waits = trace.operations[0].waits(until: trace.end)
        #expect(waits.reduce(.zero) { $0 + $1.duration } == .seconds(20))
        #expect(waits.last?.reason == .queue && waits.count == 16)
    }

    @Test func aWaitForDependenciesEndsWithTheLastOfThem() {
        let edge = OperationEvent.Edge(source: a, kind: .order(.success))
        let trace = trace([
            (a, .added(edges: [])), (b, .added(edges: [edge])), (b, .waiting), (a, .ready), (a, .started(attempt: 1)),
            (a, Self.success), (a, .misuse(Misuse(.invalidCount(0)))), (b, .ready),
        ])
        #expect(trace.operations[1].edges == [TracedOperation.Edge(source: a, kind: .onSuccess)])
        #expect(trace.operations[1].dependenciesMet == .milliseconds(6))
        #expect(
            trace.operations[1].waits(until: .milliseconds(10)).map(\.reason) == [.dependencies, .queue])
        #expect(trace.operations[0].misuses.count == 1)
        #expect(trace.operations[1].finished == nil && trace.operations[1].outcome == nil)
    }

    @Test func attemptsHaveTheirErrors() {
        let trace = trace([
            (a, .added(edges: [])), (a, .ready), (a, .started(attempt: 1)), (a, Self.retry), (a, .ready),
            (a, .started(attempt: 2)), (a, .progress(0.5)), (a, .cancelRequested(.because("of rain"))),
            (a, .finished(.cancelled, error: .cancelled(reason: .because("of rain")))),
        ])
        let operation = trace.operations[0]
        #expect(operation.attempts.map(\.number) == [1, 2])
        #expect(operation.attempts.map(\.error) == ["oops", nil])
        #expect(operation.attempts.map(\.end) == [.milliseconds(4), .milliseconds(9)])
        #expect(operation.attempts[0].pause == .seconds(1))
        #expect(operation.retryCount == 1 && operation.progress == 0.5)
        #expect(operation.cancel == TracedOperation.Cancel(time: .milliseconds(8), reason: "because of rain"))
        #expect(operation.outcome == .cancelled && operation.error == "cancelled because of rain")
        #expect(operation.runningTime(until: trace.end) == .milliseconds(4))
    }

    @Test func aRepetitionIsARunOfItsOwn() {
        let trace = trace([
            (a, .added(edges: [])), (a, .ready), (a, .started(attempt: 1)), (a, Self.again), (a, .ready),
            (a, .started(attempt: 1)), (a, Self.success),
        ])
        #expect(trace.operations[0].attempts.map(\.number) == [1, 1])
        #expect(trace.operations[0].attempts.map(\.end) == [.milliseconds(4), .milliseconds(7)])
        #expect(trace.operations[0].attempts.map(\.pause) == [.seconds(2), nil])
        #expect(trace.operations[0].runningTime(until: trace.end) == .milliseconds(2))
        #expect(trace.operations[0].retryCount == 0)
    }

    @Test func aRepetitionThatNeverBeginsHasTheFirstNumber() {
        let trace = trace([(a, .started(attempt: 1)), (a, Self.again), (a, .ready), (a, Self.success)])
        #expect(trace.operations[0].attempts.map(\.number) == [1, 1])
    }

    /// Recording began while the operation ran.
    @Test func aRunThatIsRecordedFromItsMiddleBeginsThere() {
        let trace = trace([
            (a, .progress(0.5)), (a, Self.retry), (a, .ready), (a, .started(attempt: 2)), (a, Self.success),
        ])
        #expect(trace.operations[0].firstMoment == .milliseconds(2))
        #expect(trace.duration == .milliseconds(3))
        #expect(trace.summary().leadTime == .zero)
        #expect(trace.criticalPath().duration <= trace.duration)
    }

    @Test func aRunWhoseStartWasDroppedWaitsUpToItsEnd() {
        #expect(
            waits([.added(edges: []), .ready, Self.retry, .ready, .started(attempt: 2), Self.success])
                == ["queue 1-3", "pause 3-4", "queue 4-5"])
    }

    @Test func aRunWhoseEndWasDroppedEndsBeforeTheNext() {
        let trace = trace([
            (a, .started(attempt: 1)), (a, .dropped(1)), (a, .ready), (a, .started(attempt: 1)), (a, Self.success),
        ])
        #expect(trace.operations[0].attempts.map(\.end) == [.milliseconds(3), .milliseconds(5)])
    }

    @Test func anyOrderOfEventsGivesTheSameTrace() {
        let recorded = events([
            (a, .added(edges: [])), (b, .added(edges: [])), (a, .ready), (a, .started(attempt: 1)), (a, .produced(b)),
            (b, .ready), (a, Self.success), (b, .started(attempt: 1)), (b, Self.success),
        ])
        #expect(Trace(of: recorded.reversed()) == Trace(of: recorded))
        #expect(Trace(of: recorded).operations[1].producer == a)
        #expect(Trace(of: recorded).queueName == "q" && Trace(of: recorded).queueNumber == 7)
        #expect(Trace(of: recorded).eventCount == 9 && Trace(of: recorded).end == .milliseconds(9))
    }

    @Test func droppedEventsMakeNoOperation() {
        #expect(trace([(a, .dropped(3))]).operations.isEmpty)
    }

    @Test func noEventsAreATraceToo() {
        let trace = Trace(of: [])
        #expect(trace.operations.isEmpty && trace.eventCount == 0 && trace.duration == .zero)
    }

    @Test(arguments: [(499, 499), (500, 500), (501, 501), (9000, 501)]) func aLongTextIsCut(length: Int, kept: Int) {
        let text = Trace.text(of: Oops(description: String(repeating: "é", count: length)))
        #expect(text.count == kept)
        #expect(text.hasSuffix("…") == (length > Trace.textLimit))
    }

    @Test(arguments: [
        (Duration.nanoseconds(-3), Int64(-3)), (.seconds(1), 1_000_000_000), (.seconds(Int64.max), 1 << 61),
        (.seconds(-Int64.max), -(1 << 61)), (.nanoseconds(1 << 60), 1 << 60), (.zero, 0),
    ]) func timesAreWholeNanoseconds(time: Duration, nanoseconds: Int64) {
        #expect(time.nanoseconds == nanoseconds)
    }
}

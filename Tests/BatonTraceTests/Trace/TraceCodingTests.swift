import Foundation
import Testing

@testable import Baton
@testable import BatonTrace

@Suite(.timeLimit(.minutes(10))) struct TraceCodingTests {
    private func written(_ trace: Trace) throws -> Trace {
        try JSONDecoder().decode(Trace.self, from: JSONEncoder().encode(trace))
    }

    @Test func aWrittenTraceCanBeReadBack() throws {
        var sketch = Sketch()
        let a = sketch.add("a", 0, evaluating: 1, ready: 2, start: 3, end: 9)
        sketch.add("b", 1, after: [a], in: a)
        sketch.trace.operations[0].cancel = TracedOperation.Cancel(time: .nanoseconds(7), reason: "on request")
        sketch.trace.operations[0].attempts[0].error = "oops"
        sketch.trace.operations[0].attempts[0].pause = .nanoseconds(1)
        sketch.trace.operations[0].error = "oops"
        sketch.trace.operations[0].progress = 0.25
        sketch.trace.operations[0].misuses = ["twice"]
        sketch.trace.operations[1].producer = sketch.reference(a)
        sketch.trace.operations[0].attempts[0].obstacles = [
            .init(
                reason: .exclusion, name: "‘db’", holder: sketch.reference(2), start: .nanoseconds(2),
                end: .nanoseconds(3)),
            .init(reason: .rate, name: nil, holder: nil, start: .nanoseconds(4), end: nil),
        ]
        sketch.trace.operations[0].suspensions = [.init(start: .nanoseconds(1), end: .nanoseconds(2))]
        sketch.trace.suspensions = [.init(start: .nanoseconds(1), end: nil)]
        #expect(try written(sketch.trace) == sketch.trace)
    }

    @Test("A file of an older version is read, and its waits are kept")
    func olderFiles() throws {
        let text = #"""
            {"end":9000000,"eventCount":4,"operations":[{"reference":{"id":1,"name":"x"},"added":0,"finished":9000000,
            "attempts":[{"number":1,"ready":1000000,"acquiring":2000000,"start":5000000,"end":9000000}]}]}
            """#
        let trace = try JSONDecoder().decode(Trace.self, from: Data(text.utf8))
        #expect(trace.operations[0].waits(until: trace.end).map(\.reason) == [.queue, .exclusion])
        #expect(trace.suspensions.isEmpty && trace.operations[0].attempts[0].obstacles.isEmpty)
    }

    @Test(
        "A suspension, an obstacle or a cancellation without its time is refused",
        arguments: [
            #""suspensions":[{"end":1}]"#, #""attempts":[{"number":1,"obstacles":[{"reason":"rate","end":1}]}]"#,
            #""cancel":{"reason":"x"}"#,
        ])
    func missingTimes(_ part: String) {
        let text = #"{"end":1,"eventCount":1,"operations":[{"reference":{"id":1,"name":"x"},\#(part)}]}"#
        #expect(throws: DecodingError.self) { try JSONDecoder().decode(Trace.self, from: Data(text.utf8)) }
    }

    @Test("Times beyond 73 years are clamped, and the order of times is kept")
    func longTimes() {
        let most: Int64 = 1 << 61
        #expect(Duration.seconds(2_305_843_009).nanoseconds == 2_305_843_009_000_000_000)
        for longer in [
            Duration.seconds(2_305_843_009) + .milliseconds(900), .seconds(2_305_843_010), .seconds(Int64.max),
        ] {
            #expect(longer.nanoseconds == most)
            #expect((Duration.zero - longer).nanoseconds == -most)
        }
    }

    @Test func anEmptyOneIsReadToo() throws {
        #expect(try written(Trace(of: [])) == Trace(of: []))
    }

    @Test(arguments: hostileNames) func anyNameIsRead(_ name: String) throws {
        var sketch = Sketch()
        sketch.add(name, 0, start: 1, end: 2)
        #expect(try written(sketch.trace).operations[0].name == name)
    }

    /// The files have not been written by a recorder.
    @Test(arguments: [
        #""added":-9223372036854775808,"attempts":[{"number":1,"ready":0,"start":-9223372036854775808,"#
            + #""end":9223372036854775807}]"#,
        #""added":0,"finished":1,"attempts":[{"number":1,"ready":0,"start":0,"end":9223372036854775807}]"#,
        #""added":0,"finished":9223372036854775807,"attempts":[{"number":1,"start":500,"end":100}]"#,
        #""cancel":{"time":-9223372036854775808,"reason":"x"}"#,
        #""added":0,"suspensions":[{"start":9223372036854775807,"end":-9223372036854775808},"#
            + #"{"start":-1},{"start":-2}]"#,
        #""attempts":[{"number":1,"obstacles":[{"reason":"rate","start":9223372036854775807,"#
            + #""end":-9223372036854775808}]}]"#,
    ]) func impossibleTimesAreDrawnAllTheSame(_ times: String) throws {
        for end in ["1", "9223372036854775807", "-9223372036854775808"] {
            let text = #"{"end":\#(end),"eventCount":1,"operations":[{"reference":{"id":1,"name":"x"},\#(times)}]}"#
            let trace = try JSONDecoder().decode(Trace.self, from: Data(text.utf8))
            #expect(trace.operations[0].runningTime(until: trace.end) >= .zero)
            #expect(!"\(trace.summary())".isEmpty)
            #expect(!trace.timeline().isEmpty && !trace.chromeTrace().isEmpty)
            #expect(!trace.dot().isEmpty && !trace.mermaid().isEmpty)
        }
    }
}

import Foundation
import Testing

@testable import Baton
@testable import BatonTrace

@Suite(.timeLimit(.minutes(10))) struct TraceCodingTests {
    private func written(_ trace: Trace) throws -> Trace {
        try JSONDecoder().decode(Trace.self, from: JSONEncoder().encode(trace))
    }

    @Test func whatWasWrittenIsRead() throws {
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
        #expect(try written(sketch.trace) == sketch.trace)
    }

    @Test func anEmptyOneIsReadToo() throws {
        #expect(try written(Trace(of: [])) == Trace(of: []))
    }

    @Test(arguments: hostileNames) func anyNameIsRead(_ name: String) throws {
        var sketch = Sketch()
        sketch.add(name, 0, start: 1, end: 2)
        #expect(try written(sketch.trace).operations[0].name == name)
    }

    /// From hands that are not a recorder's.
    @Test(arguments: [
        #""added":-9223372036854775808,"attempts":[{"number":1,"ready":0,"start":-9223372036854775808,"end":9223372036854775807}]"#,
        #""added":0,"finished":1,"attempts":[{"number":1,"ready":0,"start":0,"end":9223372036854775807}]"#,
        #""added":0,"finished":9223372036854775807,"attempts":[{"number":1,"start":500,"end":100}]"#,
        #""cancel":{"time":-9223372036854775808,"reason":"x"}"#,
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

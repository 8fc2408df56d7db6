import BatonTesting
import Foundation
import Testing

@testable import Baton
@testable import BatonTrace

@Suite(.timeLimit(.minutes(10))) struct GraphTests {
    private var sketch: Sketch {
        var sketch = Sketch()
        let a = sketch.add("a", 0, ready: 0, start: 0, end: 5)
        let b = sketch.add("b", 0, after: [a], ready: 5, start: 5, end: 9, outcome: .failure)
        sketch.add("child", 6, ready: 6, start: 6, end: 7, in: b)
        sketch.add("late", 0, after: [99], outcome: nil)
        return sketch
    }

    @Test func dotHasOperationsAndEdges() {
        let dot = sketch.trace.dot()
        #expect(dot.hasPrefix("digraph \"q\" {"))
        #expect(dot.contains("n1 [label=\"a\\n5.00 ms\" fillcolor=\"#d9f2e3\" color=\"#2e8b57\" penwidth=3];"))
        #expect(dot.contains("n2 [label=\"b\\n4.00 ms, failure\""))
        #expect(dot.contains("n1 -> n2 [label=\"input\" penwidth=3];"))
        #expect(dot.contains("n2 -> n3 [label=\"runs\" style=dashed"))
        #expect(dot.contains("n99 [label=\"unknown\"") && dot.contains("n99 -> n4"))
    }

    @Test("Only edges between operations that follow each other on the critical path are bold")
    func criticalEdges() {
        var sketch = Sketch()
        let a = sketch.add("a", 0, ready: 0, start: 0, end: 5)
        let b = sketch.add("b", 0, after: [a], ready: 5, start: 5, end: 9)
        sketch.add("c", 0, after: [a, b], ready: 9, start: 9, end: 12)
        #expect(sketch.trace.criticalPath().operations.map(\.name) == ["a", "b", "c"])
        let dot = sketch.trace.dot()
        #expect(dot.contains("n1 -> n2 [label=\"input\" penwidth=3];"))
        #expect(dot.contains("n2 -> n3 [label=\"input\" penwidth=3];"))
        #expect(dot.contains("n1 -> n3 [label=\"input\"];"))
        #expect(sketch.trace.mermaid().contains("n1 -->|\"input\"| n3"))
    }

    @Test("The edges from a parent to each of its critical children are bold")
    func criticalChildren() {
        var sketch = Sketch()
        let parent = sketch.add("parent", 0, ready: 0, start: 0, end: 9)
        sketch.add("first", 1, ready: 1, start: 1, end: 4, in: parent)
        sketch.add("second", 5, ready: 5, start: 5, end: 8, in: parent)
        let dot = sketch.trace.dot()
        #expect(dot.contains("n1 -> n2 [label=\"runs\" style=dashed penwidth=3];"))
        #expect(dot.contains("n1 -> n3 [label=\"runs\" style=dashed penwidth=3];"))
    }

    @Test("An operation that is not in the trace is drawn as unknown, and not as waiting")
    func unknownSources() {
        #expect(sketch.trace.dot().contains("n99 [label=\"unknown\" fillcolor=\"#f4ecf7\" color=\"#884ea0\"];"))
        let lines = sketch.trace.mermaid().split(separator: "\n").map { $0.trimmingCharacters(in: .whitespaces) }
        #expect(lines.contains("n99[\"unknown\"]:::unknown"))
        #expect(lines.contains { $0.hasPrefix("classDef unknown ") })
    }

    @Test func mermaidHasOperationsAndEdges() {
        let lines = sketch.trace.mermaid().split(separator: "\n").map { $0.trimmingCharacters(in: .whitespaces) }
        #expect(lines.first == "flowchart LR")
        #expect(lines.contains("n1[\"a<br/>5.00 ms\"]:::success"))
        #expect(lines.contains("n1 ==>|\"input\"| n2"))
        #expect(lines.contains("n2 -.->|\"runs\"| n3"))
        #expect(lines.contains("style n1 stroke-width:4px"))
    }

    @Test func aNameIsNoMermaid() {
        var sketch = Sketch()
        sketch.add("\"]; <b>&#x</b>\n`x`", 0)
        let node = sketch.trace.mermaid().split(separator: "\n")[1]
        #expect(
            node == "  n1[\"#34;#93;#59; #60;b#62;#38;#35;x#60;/b#62;<br/>#96;x#96;<br/>waiting\"]:::waiting")
    }

    @Test func aNameIsNoDot() {
        var sketch = Sketch()
        sketch.add("\"\\N\\\"&amp;\r\nx\u{0}", 0)
        #expect(sketch.trace.dot().contains("n1 [label=\"\\\"\\\\N\\\\\\\"&amp;amp;\\nx \\nwaiting\""))
        sketch.trace.queueName = "a\\\"b"
        #expect(sketch.trace.dot().hasPrefix("digraph \"a  b\" {"))
    }

    /// In Swift, each of these forms a single `Character` with the combining accent that follows it.
    @Test func aQuoteWithAnAccentIsAQuote() {
        var sketch = Sketch()
        sketch.add("a\"\u{301}\\\u{FE0F}b", 0)
        #expect(sketch.trace.dot().contains("n1 [label=\"a\\\"\u{301}\\\\\u{FE0F}b\\nwaiting\""))
        #expect(sketch.trace.mermaid().contains("n1[\"a#34;\u{301}#92;\u{FE0F}b<br/>waiting\"]"))
    }

    @Test func aLongNameIsCut() {
        var sketch = Sketch()
        sketch.add(String(repeating: "\"", count: 20_000), 0)
        let expected = String(repeating: "\\\"", count: 1000) + "…"
        #expect(sketch.trace.dot().contains("n1 [label=\"\(expected)\\nwaiting\""))
    }

    @Test("An operation that pauses between attempts does not count as running")
    func oneThatPausesDoesNotRun() {
        var sketch = Sketch()
        sketch.add("a", 0, ready: 0, start: 0)
        #expect(sketch.trace.operations[0].status == .running)
        sketch.trace.operations[0].attempts[0].end = .milliseconds(1)
        #expect(sketch.trace.operations[0].status == .waiting)
    }

    @Test func anEmptyTraceIsAGraphToo() {
        #expect(Trace(of: []).dot().hasSuffix("}\n"))
        #expect(Trace(of: []).mermaid().hasPrefix("flowchart LR\n"))
    }

    @Test func aSnapshotIsAGraphToo() async throws {
        let queue = AsyncOperationQueue(name: "now")
        let gate = Gate()
        let first = AsyncOperation("first") { await gate.wait() }
        let second = AsyncOperation("second") {}
        second.addDependency(first)
        queue.add(first, second)
        await gate.waitForWaiters(count: 1)
        let snapshot = queue.snapshot()
        gate.open()
        let (source, target) = (first.reference.id, second.reference.id)
        #expect(snapshot.dot().contains("n\(source) [label=\"first\\nexecuting\""))
        #expect(snapshot.dot().contains("n\(source) -> n\(target);"))
        #expect(snapshot.mermaid().contains("n\(source) --> n\(target)"))
        try await second.value
    }
}

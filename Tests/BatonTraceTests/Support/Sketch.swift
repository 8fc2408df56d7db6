@testable import Baton
@testable import BatonTrace

/// A handwritten trace, with times in milliseconds.
struct Sketch {
    var trace = Trace(queueName: "q", queueNumber: 1, start: .zero, end: .zero, eventCount: 0, operations: [])

    /// Adds an operation that runs from `start` to `end` in one attempt. Nil: it has not happened yet.
    @discardableResult
    mutating func add(
        _ name: String, _ added: Int, after sources: [UInt64] = [], evaluating: Int? = nil, ready: Int? = nil,
        start: Int? = nil, end: Int? = nil, in parent: UInt64? = nil, outcome: TracedOperation.Outcome? = .success
    ) -> UInt64 {
        let reference = OperationReference.sketched(UInt64(trace.operations.count + 1), name)
        var operation = TracedOperation(reference)
        operation.added = .milliseconds(added)
        operation.edges = sources.map { TracedOperation.Edge(source: self.reference($0), kind: .input) }
        operation.hasWaited = !sources.isEmpty
        let met = sources.compactMap { id in trace.operations.first { $0.id == id }?.finished }.max()
        operation.dependenciesMet = met
        operation.evaluating = evaluating.map { .milliseconds($0) }
        let ready = (ready ?? start).map { Duration.milliseconds($0) }
        operation.finished = end.map { .milliseconds($0) }
        operation.outcome = end == nil ? nil : outcome
        operation.parent = parent.map { self.reference($0) }
        if let ready {
            operation.attempts = [
                TracedOperation.Attempt(
                    number: 1, ready: ready, start: start.map { .milliseconds($0) },
                    end: start == nil ? nil : operation.finished)
            ]
        }
        trace.operations.append(operation)
        trace.end = max(trace.end, operation.finished ?? .zero, .milliseconds(start ?? added))
        return reference.id
    }

    func reference(_ id: UInt64) -> OperationReference {
        trace.operations.first { $0.id == id }?.reference ?? .sketched(id, "unknown")
    }
}

extension OperationReference {
    static func sketched(_ id: UInt64, _ name: String) -> Self {
        Self(id: id, name: name)
    }
}

extension Trace {
    /// A trace of 100,000 operations, each of which waits, depends on two others and runs. Every fiftieth fails with an
    /// error of its own.
    static let ofHundredThousand: Trace = {
        var trace = Sketch().trace
        for place in 0..<100_000 {
            let id = UInt64(place + 1)
            var operation = TracedOperation(.sketched(id, "download page \(place)"))
            let time = Duration.microseconds(place * 13) + .nanoseconds(457)
            operation.added = .nanoseconds(place)
            operation.hasWaited = true
            operation.dependenciesMet = time
            if place > 1 {
                operation.edges = [
                    .init(source: .sketched(id - 1, "a"), kind: .input),
                    .init(source: .sketched(id - 2, "b"), kind: .order),
                ]
            }
            operation.attempts = [
                .init(
                    number: 1, ready: time + .nanoseconds(300), start: time + .microseconds(5),
                    end: time + .microseconds(77))
            ]
            operation.finished = time + .microseconds(77)
            operation.outcome = place % 50 == 0 ? .failure : .success
            operation.error = place % 50 == 0 ? "the server \(place) said no" : nil
            trace.operations.append(operation)
            trace.end = time + .microseconds(77)
        }
        return trace
    }()

    /// The page is made once, because that takes ten seconds under ThreadSanitizer.
    static let pageOfHundredThousand = ofHundredThousand.timelineBytes()
}

/// Names that break a picture unless they are escaped.
let hostileNames = [
    "</script><script>alert(1)</script>", "\"quoted\" 'twice'", "two\nlines\r\nthree", "back\\slash\\", "😀 👨‍👩‍👧‍👦",
    "שלום עולם", "<!--", "]]>&amp;&lt;", "\u{2028}\u{2029}\u{0}\u{1b}[31m", "", " ", "end", "#quot; %23 `md`;",
    "$\\N\\G", "\"\u{301} \\\u{301} &\u{FE0F} ]\u{301} <\u{301}/script>",
]

import BatonTesting

@testable import Baton

extension OperationEvent {
    /// A short text for comparisons: "a added b c", "a started", "a finished failure".
    var inShort: String {
        let what =
            switch kind {
            case .added(let edges): (["added"] + edges.map(\.source.name)).joined(separator: " ")
            case .waiting: "waiting"
            case .delayed: "delayed"
            case .evaluating: "evaluating"
            case .acquiring: "acquiring"
            case .excluded(let holder, let exclusion): "excluded from \(exclusion) by \(holder.name)"
            case .waitingForRate(let rate): "waiting for \(rate)"
            case .granted: "granted"
            case .ready: "ready"
            case .started(attempt: 1): "started"
            case .started(let attempt): "started \(attempt)"
            case .progress(let fraction): "progress \(fraction)"
            case .produced(let product): "produced \(product.name)"
            case .retrying(let attempt, _, let delay): "retrying \(attempt) in \(delay)"
            case .repeating(let delay): "repeating in \(delay)"
            case .cancelRequested(.requested): "cancel"
            case .cancelRequested(let reason): "cancel \(reason)"
            case .misuse(let misuse): "misuse \(misuse.kind)"
            case .finished(let outcome, _): "finished \(outcome)"
            case .dropped(let count): "dropped \(count)"
            }
        return "\(operation.name) \(what)"
    }
}

/// An observer that notes each event in its short form.
struct NotingObserver: OperationObserver {
    let notes = EventLog<String>()

    func observe(_ event: OperationEvent) async { notes(event.inShort) }
}

extension TestQueue {
    /// Returns a log of all events that the observers of the queue receive from now on.
    func noteEvents() -> EventLog<String> {
        let observer = NotingObserver()
        queue.addObserver(observer)
        return observer.notes
    }

    /// Returns a log to which a task on the step executor adds each event of the stream, and then "end".
    func read(_ events: OperationEvents) -> EventLog<String> {
        let notes = EventLog<String>()
        steps.task {
            for await event in events { notes(event.inShort) }
            notes("end")
        }
        return notes
    }
}

extension OperationEvent {
    /// Makes an event of an operation that belongs to no queue.
    static func sample(_ number: UInt64, _ kind: Kind = .ready) -> Self {
        Self(
            number: number, time: .zero, subject: EventSubject(OperationReference(id: 1, name: "sample"), in: nil),
            kind: kind)
    }
}

extension EventOutbox {
    private static func sample() -> (OperationReference, isFinal: Bool) {
        (OperationReference(id: 1, name: "sample"), isFinal: true)
    }

    mutating func startPublishing() -> Batch? { startPublishing(of: Self.sample) }

    mutating func nextBatch() -> Batch? { nextBatch(of: Self.sample) }
}

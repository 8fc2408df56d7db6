import Baton
import BatonTesting
import Synchronization

/// An observer that checks its events (G27), and acts as its note says. It retains no operation.
final class NotedObserver: OperationObserver {
    private struct Notes {
        var orders: [Int: EventOrder] = [:]
        var lastNumber: UInt64 = 0
        var lastTime = Duration.zero
        var added: Set<Int> = []
        var finished: Set<Int> = []
        var optionalStateStorage = 0
    }

    let note: ObserverNote
    private let site: Site
    private let notes = Locked(Notes())
    private let isCalled = Atomic<Bool>(false)
    private let token: Token

    init(_ note: ObserverNote, at site: Site) {
        self.note = note
        self.site = site
        token = Token(site.observers)
    }

    func observe(_ event: OperationEvent) async {
        let recorder = site.recorder
        recorder.check(!isCalled.exchange(true, ordering: .relaxed), "G27: an observer is called twice at once")
        recorder.check(!Task.isCancelled, "G16: an observer is cancelled")
        for fault in notes.withLock({ faults(in: event, &$0) }) { recorder.violation("G27: \(note) \(fault)") }
        await act(on: event)
        isCalled.store(false, ordering: .relaxed)
    }

    private func faults(in event: OperationEvent, _ notes: inout Notes) -> [String] {
        var faults: [String] = []
        if event.number <= notes.lastNumber { faults.append("event \(event.number) after \(notes.lastNumber)") }
        if event.time < notes.lastTime { faults.append("time went back to \(event.time)") }
        (notes.lastNumber, notes.lastTime) = (event.number, event.time)
        let id = event.operation.node
        if id < 0 { return faults }
        if case .node(let own) = note.subject, own != id { faults.append("is told of n\(id)") }
        // An operation that is cancelled before its add has no `added` event.
        let isLate = if case .node = note.subject { true } else { !note.isAddedBeforeStart }
        if let fault = notes.orders[id, default: EventOrder(isLate: isLate)].fault(in: event) {
            faults.append("n\(id): \(fault)")
        }
        switch event.kind {
        case .added: notes.added.insert(id)
        case .finished: if !notes.finished.insert(id).inserted { faults.append("n\(id) finished twice") }
        case .waiting, .delayed, .evaluating, .ready, .acquiring, .excluded, .waitingForRate, .granted, .started,
            .progress,
            .produced, .retrying, .repeating, .cancelRequested, .misuse, .dropped:
            break
        }
        return faults
    }

    private func act(on event: OperationEvent) async {
        let id = event.operation.node
        switch note.behaviour {
        case .quick: break
        case .slow(let yields): for _ in 0..<yields { await Task.yield() }
        case .stuck: await site.end.wait()
        case .adding:
            let count = notes.withLock { notes in
                notes.optionalStateStorage += 1
                return notes.optionalStateStorage
            }
            if count <= 3, case .queue(let queue) = note.subject { site.queue(queue)?.add("extra") { true } }
        case .cancelling:
            if id < 0 || event.number % 7 != 0 { return }
            let operation = site.made.withLock { id < $0.count ? $0[id].operation : nil }
            if let operation { site.cancel(operation, id, because: "observer") }
        }
    }

    /// True if the observer has received the end of every operation whose add it has received, and if it was there
    /// first, nothing else.
    var isWhole: Bool {
        let (added, finished) = notes.withLock { ($0.added, $0.finished) }
        return switch note.subject {
        case .queue: note.isAddedBeforeStart ? added == finished : added.isSubset(of: finished)
        case .node(let id): finished == [id]
        }
    }

    /// Checks the events when all of them have been delivered.
    func checkEnd() {
        let (added, finished) = notes.withLock { ($0.added, $0.finished) }
        site.recorder.check(isWhole, "G27: \(note) was told of the add of \(added), and of the end of \(finished)")
    }
}

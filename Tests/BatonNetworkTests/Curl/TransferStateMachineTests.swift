import Foundation
import Testing

@testable import BatonNetwork

/// A reference to a state machine, because `#expect` cannot call a mutating method.
private final class Box {
    typealias Machine = TransferStateMachine<Int>

    private var machine: Machine

    init(isFeeding: Bool = false) { machine = Machine(isFeeding: isFeeding) }

    func receive(_ head: HTTPHead) -> [Int] { machine.receive(head) }

    func receive(_ count: Int) -> Machine.ReceiveAction { Data(count: count).withUnsafeBytes { machine.receive($0) } }

    func end(_ completion: Machine.Completion) -> [Int] { machine.end(completion) }

    func feedingEnded() -> [Int] { machine.feedingEnded() }

    func cancel() -> Bool { machine.cancel() }

    func takeHead() -> Machine.Taken<HTTPHead> { machine.takeHead() }

    func take() -> (taken: Machine.Taken<Data>, resumes: Bool) { machine.take() }

    func wait(_ waiter: Int, forHead: Bool) -> Bool { machine.wait(waiter, forHead: forHead) }
}

@Suite struct TransferStateMachineTests {
    private typealias Machine = TransferStateMachine<Int>

    private let head = HTTPHead(status: 200, url: nil)

    private func isKept(_ action: Machine.ReceiveAction) -> Bool {
        if case .kept = action { true } else { false }
    }

    private func count(_ taken: Machine.Taken<Data>) -> Int? {
        if case .value(let data) = taken { data.count } else { nil }
    }

    private func isNothing<Value>(_ taken: Machine.Taken<Value>) -> Bool {
        if case .nothing = taken { true } else { false }
    }

    private func isComplete<Value>(_ taken: Machine.Taken<Value>) -> Bool {
        if case .end(.complete) = taken { true } else { false }
    }

    private func isCancelled<Value>(_ taken: Machine.Taken<Value>) -> Bool {
        if case .end(.failed(let error)) = taken { error is CancellationError } else { false }
    }

    @Test("A cancellation before the end is reported, however the transfer ends", arguments: [true, false])
    func cancelBeforeTheEnd(_ hasHead: Bool) {
        let machine = Box()
        if hasHead { _ = machine.receive(head) }
        #expect(machine.cancel())
        _ = machine.end(.complete)
        #expect(isCancelled(machine.takeHead()))
        #expect(isCancelled(machine.take().taken))
    }

    @Test("A reader waits for the head, for each piece and for the end")
    func inOrder() {
        let machine = Box()
        #expect(isNothing(machine.takeHead()))
        #expect(machine.wait(1, forHead: true))
        #expect(machine.receive(head) == [1])
        #expect(!machine.wait(2, forHead: true))
        #expect(machine.wait(3, forHead: false))
        guard case .kept([3]) = machine.receive(10) else {
            Issue.record("the reader was not woken")
            return
        }
        #expect(isKept(machine.receive(5)))
        #expect(count(machine.take().taken) == 15)
        #expect(isNothing(machine.take().taken))
        #expect(machine.wait(4, forHead: false))
        #expect(machine.end(.complete) == [4])
        #expect(!machine.wait(5, forHead: false))
        #expect(isComplete(machine.take().taken))
        #expect(!machine.cancel())
    }

    @Test("Bytes that arrived before the end are read before it")
    func bytesBeforeTheEnd() {
        let machine = Box()
        _ = machine.receive(head)
        _ = machine.receive(10)
        _ = machine.end(.complete)
        #expect(count(machine.take().taken) == 10)
        #expect(isComplete(machine.take().taken))
    }

    @Test("When enough bytes are buffered, more are refused, and the reader resumes the transfer once")
    func pauses() {
        let machine = Box()
        _ = machine.receive(head)
        #expect(isKept(machine.receive(Machine.maxBufferedBytes - 1)))
        #expect(isKept(machine.receive(16_000)))
        guard case .full = machine.receive(1) else {
            Issue.record("there was room")
            return
        }
        let (taken, resumes) = machine.take()
        #expect(count(taken) == Machine.maxBufferedBytes - 1 + 16_000 && resumes)
        #expect(isKept(machine.receive(1)))
        #expect(!machine.take().resumes)
    }

    @Test("A cancellation discards the buffered bytes, counts once, and ends when the thread has seen it")
    func cancels() {
        let machine = Box()
        _ = machine.receive(head)
        _ = machine.receive(10)
        #expect(machine.cancel())
        #expect(!machine.cancel())
        #expect(isNothing(machine.takeHead()) && isNothing(machine.take().taken))
        #expect(machine.wait(1, forHead: true))
        #expect(isKept(machine.receive(10_000_000)))
        #expect(machine.end(.failed(CancellationError())) == [1])
        #expect(isCancelled(machine.takeHead()) && isCancelled(machine.take().taken))
    }

    @Test("The end waits for the task that produces the request body", arguments: [true, false])
    func theEndOfTheFeeder(_ isLast: Bool) {
        let machine = Box(isFeeding: true)
        _ = machine.receive(head)
        #expect(machine.wait(1, forHead: false))
        if isLast {
            #expect(machine.end(.complete) == [])
            #expect(isNothing(machine.take().taken))
            #expect(machine.feedingEnded() == [1])
        } else {
            #expect(machine.feedingEnded() == [])
            #expect(machine.end(.complete) == [1])
        }
        #expect(isComplete(machine.take().taken))
    }
}

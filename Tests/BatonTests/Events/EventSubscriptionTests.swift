import Testing

@testable import Baton

/// Tests of buffers, readers and listeners as values.
@Suite struct EventSubscriptionTests {
    private func numbers(_ buffer: inout EventBuffer) -> [String] {
        var all: [String] = []
        while let event = buffer.next() {
            if case .dropped(let count) = event.kind {
                all.append("-\(count)@\(event.number)")
            } else {
                all.append("\(event.number)")
            }
        }
        return all
    }

    /// An element that is released later than it is taken might be released under the lock of the queue's owner.
    @Test(arguments: [1, 1_000, 5_000]) func nothingThatWasTakenIsKept(count: Int) {
        let tokens = Tokens()
        var fifo = ChunkedFIFOQueue<Token>()
        for _ in 0..<count { fifo.append(tokens.make()) }
        for left in (0..<count).reversed() {
            _ = fifo.popFirst()
            #expect(tokens.alive == left)
        }
    }

    @Test func theOrderIsThatOfTheAppends() {
        var fifo = ChunkedFIFOQueue<Int>()
        for number in 0..<5_000 { fifo.append(number) }
        for number in 0..<5_000 {
            #expect(fifo.count == 5_000 - number && !fifo.isEmpty)
            #expect(fifo.popFirst() == number)
        }
        #expect(fifo.count == 0 && fifo.isEmpty && fifo.popFirst() == nil)
        fifo.append(7)
        #expect(fifo.popFirst() == 7)
    }

    @Test(
        arguments: [
            (nil, 5, ["1", "2", "3", "4", "5"]), (5, 5, ["1", "2", "3", "4", "5"]),
            (4, 5, ["-1@1", "2", "3", "4", "5"]),
            (1, 5, ["-4@4", "5"]), (2, 0, []),
        ] as [(Int?, UInt64, [String])])
    func aBoundedBufferKeepsTheNewestAndCountsTheOthers(limit: Int?, count: UInt64, seen: [String]) {
        var buffer = EventBuffer(limit: limit)
        for number in 0..<count { _ = buffer.append(.sample(number + 1)) }
        #expect(buffer.isEmpty == (count == 0))
        #expect(numbers(&buffer) == seen)
        #expect(buffer.isEmpty)
    }

    @Test("The description of dropped events uses the singular for one event")
    func descriptionOfDroppedEvents() {
        #expect("\(OperationEvent.Kind.dropped(1))" == "was not read in time: 1 event was dropped")
        #expect("\(OperationEvent.Kind.dropped(2))" == "was not read in time: 2 events were dropped")
    }

    @Test func laterDropsAreCountedFromZero() {
        var buffer = EventBuffer(limit: 1)
        for number in 1...3 as ClosedRange<UInt64> { _ = buffer.append(.sample(number)) }
        guard case .dropped(2)? = buffer.next()?.kind else { Issue.record("2 were dropped"); return }
        let dropped = buffer.append(.sample(4))
        #expect(dropped?.number == 3, "It is handed out, to be released without a lock.")
        #expect(numbers(&buffer) == ["-1@3", "4"])
    }

    @Test func aReaderWaitsUntilThereIsSomething() {
        var reader = EventReader<String>()
        guard case .wait(let first) = reader.next(), case .wait(let second) = reader.next() else {
            Issue.record("it does not wait")
            return
        }
        let waits = reader.wait(first, "first")
        let waitsToo = reader.wait(second, "second")
        #expect(waits && waitsToo)
        _ = reader.append(.sample(1))
        #expect(reader.takeWaiters() == ["first", "second"])
        let waitsLate = reader.wait(first, "first")
        #expect(!waitsLate, "An event came between the question and the wait.")
        #expect(reader.end() == [])
        guard case .event(let event) = reader.next(), case .end = reader.next() else {
            Issue.record("the event comes before the end")
            return
        }
        #expect(event.number == 1)
    }

    @Test func aReaderStopsWaitingOnce() {
        var reader = EventReader<String>()
        guard case .wait(let id) = reader.next() else { return }
        _ = reader.wait(id, "reader")
        let stopped = [reader.stopWaiting(id), reader.stopWaiting(id)]
        #expect(stopped == ["reader", nil])
        #expect(reader.end() == [])
        let waits = reader.wait(id, "reader")
        #expect(!waits)
    }

    @Test("One task serves a listener until it has no more events")
    func oneTaskServesAListenerUntilThereIsNothingMore() {
        var listener = EventListener<String>()
        let starts = [listener.append(.sample(1)), listener.append(.sample(2))]
        #expect(starts == [true, false])
        #expect(listener.nextCall()?.number == 1)
        let startsMeanwhile = listener.append(.sample(3))
        #expect(!startsMeanwhile)
        #expect(listener.nextCall()?.number == 2)
        #expect(listener.nextCall()?.number == 3)
        #expect(listener.nextCall() == nil)
        let startsAgain = listener.append(.sample(4))
        #expect(startsAgain)
        listener.end()
        #expect(!listener.isDone)
        #expect(listener.nextCall()?.number == 4)
        #expect(listener.nextCall() == nil)
        #expect(listener.isDone)
    }

    @Test func waitingForAListenerWaitsForItsEarlierEvents() {
        var listener = EventListener<String>()
        let waitsForNothing = listener.wait("early")
        #expect(!waitsForNothing)
        _ = listener.append(.sample(1))
        _ = listener.append(.sample(2))
        let waits = listener.wait("both")
        #expect(waits)
        _ = listener.append(.sample(3))
        _ = listener.nextCall()
        #expect(listener.callReturned() == [])
        _ = listener.nextCall()
        #expect(listener.callReturned() == ["both"])
        _ = listener.wait("third")
        #expect(listener.takeWaiters() == ["third"])
    }
}

import BatonTesting
import Testing

@testable import Baton

struct TimerHeapTests {
    @Test func theEarliestComesFirst() {
        var deadlines = TimerHeap<Duration, String>()
        _ = deadlines.add("late", at: .seconds(3))
        _ = deadlines.add("early", at: .seconds(1))
        _ = deadlines.add("middle", at: .seconds(2))
        #expect(deadlines.next == .seconds(1))
        #expect(deadlines.takeDue(at: .seconds(2)) == ["early", "middle"])
        #expect(deadlines.next == .seconds(3))
        #expect(deadlines.takeDue(at: .seconds(2)).isEmpty)
        #expect(deadlines.takeDue(at: .seconds(9)) == ["late"])
        #expect(deadlines.next == nil)
    }

    @Test("The entry with the earliest time can be taken out before that time")
    func theFirstIsTakenOut() {
        var deadlines = TimerHeap<Int, String>()
        #expect(deadlines.first == nil)
        #expect(deadlines.removeFirst() == nil)
        for (name, time) in [("late", 3), ("early", 1), ("middle", 2)] { _ = deadlines.add(name, at: time) }
        #expect(deadlines.times.sorted() == [1, 2, 3])
        #expect(deadlines.first == "early")
        #expect(deadlines.removeFirst() == "early")
        #expect(deadlines.first == "middle")
        #expect(deadlines.times.sorted() == [2, 3])
    }

    @Test func equalTimesComeInOrderOfArrival() {
        var deadlines = TimerHeap<Duration, Int>()
        for number in 0..<100 { _ = deadlines.add(number, at: .seconds(1)) }
        #expect(deadlines.takeDue(at: .seconds(1)) == Array(0..<100))
    }

    @Test func removedTimersDoNotFire() {
        var deadlines = TimerHeap<Duration, String>()
        let first = deadlines.add("a", at: .seconds(1))
        _ = deadlines.add("b", at: .seconds(2))
        #expect(deadlines.remove(first) == "a")
        #expect(deadlines.remove(first) == nil)
        #expect(deadlines.next == .seconds(2))
    }

    @Test func aTicketIsGoodForOneEntryOnly() {
        var deadlines = TimerHeap<Duration, String>()
        let old = deadlines.add("old", at: .seconds(1))
        _ = deadlines.takeDue(at: .seconds(1))
        // The new entry gets the index of the old one.
        _ = deadlines.add("new", at: .seconds(2))
        #expect(deadlines.remove(old) == nil)
        #expect(deadlines.takeDue(at: .seconds(2)) == ["new"])
    }

    @Test func manyStepsAgreeWithASortedList() {
        var generator = SeededGenerator(seed: 7)
        var deadlines = TimerHeap<Duration, Int>()
        var model: [(time: Int, number: Int, ticket: TimerHeap<Duration, Int>.Ticket)] = []
        var now = 0
        for number in 0..<100_000 {
            switch Int.random(in: 0..<10, using: &generator) {
            case 0..<5:
                let time = now + Int.random(in: 0..<50, using: &generator)
                model.append((time, number, deadlines.add(number, at: .seconds(time))))
            case 5..<8:
                guard let place = model.indices.randomElement(using: &generator) else { continue }
                let gone = model.remove(at: place)
                #expect(deadlines.remove(gone.ticket) == gone.number)
            default:
                now += Int.random(in: 0..<5, using: &generator)
                let due = model.filter { $0.time <= now }.sorted { ($0.time, $0.number) < ($1.time, $1.number) }
                model.removeAll { $0.time <= now }
                #expect(deadlines.takeDue(at: .seconds(now)) == due.map(\.number))
            }
            #expect(deadlines.next == model.map(\.time).min().map { .seconds($0) })
            #expect(deadlines.count == model.count)
        }
    }
}

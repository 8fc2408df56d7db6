/// Entries ordered by time, and entries of equal times in the order in which they were added.
///
/// A pure value: a binary heap in which every entry knows its place, so that it can be removed in O(log *n*).
package struct TimerHeap<Time: Comparable, Entry> {
    /// Identifies an entry. A ticket never identifies another entry, even after its own was removed.
    package struct Ticket {
        fileprivate let slot: Slab<Slot>.ID
        fileprivate let number: UInt64

        /// Returns true if the entry of this ticket was added before that of `other`.
        func isOlder(than other: Self) -> Bool { number < other.number }
    }

    fileprivate struct Slot {
        var entry: Entry?
        var place: Int
        var number: UInt64
    }

    private struct Node {
        let time: Time
        let number: UInt64
        let slot: Slab<Slot>.ID

        static func < (left: Self, right: Self) -> Bool {
            left.time < right.time || left.time == right.time && left.number < right.number
        }
    }

    private var heap: [Node] = []
    private var slots = Slab<Slot>()
    private var lastNumber: UInt64 = 0

    package init() {}

    package var count: Int { heap.count }

    /// The earliest time.
    package var next: Time? { heap.first?.time }

    /// The entry with the earliest time.
    var first: Entry? { heap.first.flatMap { slots[$0.slot].entry } }

    /// All times, in no particular order.
    var times: [Time] { heap.map(\.time) }

    package mutating func add(_ entry: Entry, at time: Time) -> Ticket {
        lastNumber += 1
        let slot = slots.insert(Slot(entry: entry, place: heap.count, number: lastNumber))
        heap.append(Node(time: time, number: lastNumber, slot: slot))
        rise(from: heap.count - 1)
        return Ticket(slot: slot, number: lastNumber)
    }

    /// Removes the entry. Returns `nil` if its time has come, or if it was removed before.
    @discardableResult
    package mutating func remove(_ ticket: Ticket) -> Entry? {
        guard slots.hasPlace(ticket.slot), slots[ticket.slot].number == ticket.number,
            slots[ticket.slot].entry != nil
        else { return nil }
        return remove(at: slots[ticket.slot].place)
    }

    /// Removes the entry with the earliest time.
    mutating func removeFirst() -> Entry? { heap.isEmpty ? nil : remove(at: 0) }

    /// Removes all entries whose time has come, in order.
    package mutating func takeDue(at now: Time) -> [Entry] {
        var due: [Entry] = []
        while let first = heap.first, first.time <= now { due.append(remove(at: 0)) }
        return due
    }

    private mutating func remove(at place: Int) -> Entry {
        let slot = heap[place].slot
        assert(slots[slot].place == place, "an entry does not know its place in the heap")
        let entry = slots[slot].entry.take()!
        slots.remove(slot)
        let last = heap.removeLast()
        if place < heap.count {
            put(last, at: place)
            rise(from: place)
            sink(from: place)
        }
        return entry
    }

    private mutating func put(_ node: Node, at place: Int) {
        heap[place] = node
        slots[node.slot].place = place
    }

    private mutating func rise(from start: Int) {
        var place = start
        let node = heap[place]
        while place > 0, node < heap[(place - 1) / 2] {
            put(heap[(place - 1) / 2], at: place)
            place = (place - 1) / 2
        }
        if place != start { put(node, at: place) }
    }

    private mutating func sink(from start: Int) {
        var place = start
        let node = heap[place]
        while true {
            var child = 2 * place + 1
            if child + 1 < heap.count, heap[child + 1] < heap[child] { child += 1 }
            if child >= heap.count || !(heap[child] < node) { break }
            put(heap[child], at: place)
            place = child
        }
        if place != start { put(node, at: place) }
    }
}

/// Assigns the runs of a trace to lanes, so that runs in a lane do not overlap: each run takes the first free lane.
/// A pure value.
///
/// The lanes are not the queue's workers, which events do not name. There are as many lanes as bodies ran at a time.
struct RunLanes {
    struct Run {
        /// The index of the operation in the trace.
        let place: Int
        /// The index of the attempt in the operation.
        let attempt: Int
        let start: Int64
        /// The end of the run, or nil if it has not ended.
        let end: Int64?
        var lane = 0
    }

    /// The runs, in the order in which they started.
    private(set) var runs: [Run] = []
    private(set) var count = 0

    init(of trace: Trace) {
        for (place, operation) in trace.operations.enumerated() {
            for (number, attempt) in operation.attempts.enumerated() {
                guard let start = attempt.start?.nanoseconds else { continue }
                let end = (attempt.end ?? operation.finished)?.nanoseconds
                runs.append(Run(place: place, attempt: number, start: start, end: end.map { max($0, start) }))
            }
        }
        runs.sort { ($0.start, $0.place, $0.attempt) < ($1.start, $1.place, $1.attempt) }
        assignLanes()
    }

    private mutating func assignLanes() {
        struct Busy: Comparable {
            let end: Int64
            let lane: Int

            static func < (left: Self, right: Self) -> Bool { (left.end, left.lane) < (right.end, right.lane) }
        }
        var busy = BinaryHeap<Busy>()
        var free = BinaryHeap<Int>()
        for place in runs.indices {
            while let first = busy.first, first.end <= runs[place].start {
                _ = busy.popFirst()
                free.insert(first.lane)
            }
            if let lane = free.popFirst() {
                runs[place].lane = lane
            } else {
                runs[place].lane = count
                count += 1
            }
            busy.insert(Busy(end: runs[place].end ?? .max, lane: runs[place].lane))
        }
    }
}

// MARK: - Heap

/// A binary heap, whose first element is the smallest.
struct BinaryHeap<Element: Comparable> {
    private var elements: [Element] = []

    var first: Element? { elements.first }

    mutating func insert(_ element: Element) {
        elements.append(element)
        var place = elements.count - 1
        while place > 0, elements[place] < elements[(place - 1) / 2] {
            elements.swapAt(place, (place - 1) / 2)
            place = (place - 1) / 2
        }
    }

    mutating func popFirst() -> Element? {
        guard let last = elements.popLast() else { return nil }
        guard let first = elements.first else { return last }
        elements[0] = last
        var place = 0
        while true {
            let left = 2 * place + 1
            guard left < elements.count else { return first }
            let right = left + 1
            let least = right < elements.count && elements[right] < elements[left] ? right : left
            if elements[place] <= elements[least] { return first }
            elements.swapAt(place, least)
            place = least
        }
    }
}

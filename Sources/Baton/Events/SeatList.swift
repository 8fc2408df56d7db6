/// Seats in the order in which they were taken, which is that of their numbers. One is found by halving, and leaves an empty
/// place behind, until half of all places are empty: with very many seats, too, nobody's leaving takes long.
struct SeatList<Seat> {
    private struct Place {
        let id: UInt64
        var seat: Seat?
    }

    private var places: [Place] = []
    private var emptyCount = 0

    var isEmpty: Bool { places.count == emptyCount }

    /// - Parameter id: Greater than all before.
    mutating func append(_ seat: Seat, _ id: UInt64) {
        assert(places.last.map { $0.id < id } ?? true)
        places.append(Place(id: id, seat: seat))
    }

    /// Nil: there is none with this number.
    mutating func with<Result>(_ id: UInt64, _ body: (inout Seat) -> Result) -> Result? {
        guard let place = place(of: id), places[place].seat != nil else { return nil }
        return body(&places[place].seat!)
    }

    mutating func forEach(_ body: (inout Seat) -> Void) {
        for place in places.indices where places[place].seat != nil { body(&places[place].seat!) }
    }

    /// With the same value for all, which the last one may keep.
    mutating func forEach<Value>(with value: consuming Value, _ body: (inout Seat, consuming Value) -> Void) {
        guard let last = places.lastIndex(where: { $0.seat != nil }) else { return }
        for place in 0..<last where places[place].seat != nil { body(&places[place].seat!, copy value) }
        body(&places[last].seat!, value)
    }

    mutating func remove(_ id: UInt64) -> Seat? {
        guard let place = place(of: id), let seat = places[place].seat.take() else { return nil }
        emptyCount += 1
        if emptyCount * 2 >= places.count { dropEmptyPlaces() }
        return seat
    }

    mutating func removeAll(where isGone: (Seat) -> Bool) -> [Seat] {
        var gone: [Seat] = []
        for place in places.indices {
            if let seat = places[place].seat, isGone(seat) {
                gone.append(seat)
                places[place].seat = nil
            }
        }
        dropEmptyPlaces()
        return gone
    }

    private mutating func dropEmptyPlaces() {
        places.removeAll { $0.seat == nil }
        emptyCount = 0
    }

    private func place(of id: UInt64) -> Int? {
        var (low, high) = (0, places.count)
        while low < high {
            let middle = (low + high) / 2
            if places[middle].id < id { low = middle + 1 } else { high = middle }
        }
        return low < places.count && places[low].id == id ? low : nil
    }
}

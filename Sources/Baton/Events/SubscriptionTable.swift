/// Subscriptions in the order in which they were added, which is the order of their numbers. A pure value.
///
/// A subscription is found by binary search. Its removal leaves an empty place, and the empty places are dropped once
/// they make up half of the table, so a removal takes O(log *n*) amortized time.
struct SubscriptionTable<Subscription> {
    private struct Place {
        let id: UInt64
        var subscription: Subscription?
    }

    private var places: [Place] = []
    private var emptyCount = 0

    var isEmpty: Bool { places.count == emptyCount }

    /// - Parameter id: A number greater than all numbers before.
    mutating func append(_ subscription: Subscription, _ id: UInt64) {
        assert(places.last.map { $0.id < id } ?? true)
        places.append(Place(id: id, subscription: subscription))
    }

    /// Returns `nil` if there is no subscription with this number.
    mutating func with<Result>(_ id: UInt64, _ body: (inout Subscription) -> Result) -> Result? {
        guard let place = place(of: id), places[place].subscription != nil else { return nil }
        return body(&places[place].subscription!)
    }

    mutating func forEach(_ body: (inout Subscription) -> Void) {
        for place in places.indices where places[place].subscription != nil { body(&places[place].subscription!) }
    }

    /// Passes the same value to all subscriptions. The last one gets the value itself instead of a copy.
    mutating func forEach<Value>(with value: consuming Value, _ body: (inout Subscription, consuming Value) -> Void) {
        guard let last = places.lastIndex(where: { $0.subscription != nil }) else { return }
        for place in 0..<last where places[place].subscription != nil { body(&places[place].subscription!, copy value) }
        body(&places[last].subscription!, value)
    }

    mutating func remove(_ id: UInt64) -> Subscription? {
        guard let place = place(of: id), let subscription = places[place].subscription.take() else { return nil }
        emptyCount += 1
        if emptyCount * 2 >= places.count { dropEmptyPlaces() }
        return subscription
    }

    mutating func removeAll(where isGone: (Subscription) -> Bool) -> [Subscription] {
        var gone: [Subscription] = []
        for place in places.indices {
            if let subscription = places[place].subscription, isGone(subscription) {
                gone.append(subscription)
                places[place].subscription = nil
            }
        }
        dropEmptyPlaces()
        return gone
    }

    private mutating func dropEmptyPlaces() {
        places.removeAll { $0.subscription == nil }
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

/// Finds the places of an element in a list, so that elements can be removed one by one from a long list in any order.
/// A pure value.
///
/// The index is made when the first element is removed. Each removal indexes the elements that were appended since the
/// previous removal, so an append costs nothing. A removed element leaves a hole in the list, until at least half
/// of the list consists of holes.
struct RemovalIndex<Key: Hashable> {
    private var places: [Key: TinyArray<Int>] = [:]
    private var known = 0
    private var holes = 0

    /// Returns the places of `wanted` in a list of `count` places. The closure returns the key of the element at a
    /// place, or nil for a hole.
    mutating func places(of wanted: Key, in count: Int, _ key: (Int) -> Key?) -> TinyArray<Int> {
        assert(count >= known, "The list becomes shorter only when `remove(_:)` says so.")
        for place in known..<count {
            if let key = key(place) { places[key, default: .none].append(place) }
        }
        known = count
        return places[wanted] ?? .none
    }

    /// Forgets the places of `key`. Returns true if the caller must now rebuild the list without its holes; the index
    /// then forgets all places.
    mutating func remove(_ key: Key) -> Bool {
        holes += places.removeValue(forKey: key)?.count ?? 0
        if 2 * holes < known { return false }
        self = Self()
        return true
    }
}

/// The indices that an operation needs to remove its dependencies.
struct Removals {
    var edges = RemovalIndex<ObjectIdentifier>()
    var policies = RemovalIndex<UnsafeMutableRawPointer>()
}

/// Finds the places of a list by what stands there, so that elements can be removed one by one from a long list in any
/// order. Pure.
///
/// Made when the first element is removed. Elements that were appended since then are noted by the next removal, so an
/// append costs nothing. A removed element leaves a hole in the list, until the holes are more than half of it.
struct RemovalIndex<Key: Hashable> {
    private var places: [Key: TinyArray<Int>] = [:]
    private var known = 0
    private var holes = 0

    /// Where the key stands in a list of `count` places, of which `key` tells what stands there; nil: a hole.
    mutating func places(of wanted: Key, in count: Int, _ key: (Int) -> Key?) -> TinyArray<Int> {
        for place in known..<max(known, count) {
            if let key = key(place) { places[key, default: .none].append(place) }
        }
        known = max(known, count)
        return places[wanted] ?? .none
    }

    /// True: the list is to be made again without its holes, and this forgets all places.
    mutating func remove(_ key: Key) -> Bool {
        holes += places.removeValue(forKey: key)?.count ?? 0
        if 2 * holes < known { return false }
        self = Self()
        return true
    }
}

/// What an operation needs to remove its dependencies.
struct Removals {
    var edges = RemovalIndex<ObjectIdentifier>()
    var policies = RemovalIndex<UnsafeMutableRawPointer>()
}

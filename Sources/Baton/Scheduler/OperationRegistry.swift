/// The unfinished operations of a queue: those that `cancelAll` reaches, and that must be gone before the queue is
/// idle. An operation keeps its place, so an insertion and a removal take a few instructions.
struct OperationRegistry {
    /// The number of operations that have ever been inserted.
    private(set) var insertedCount = 0
    /// The number of operations that have been removed.
    private(set) var removedCount = 0
    /// The operations, which the queue retains, and nil in each free place.
    private var places: [Unretained<AnyOperation>?] = []
    /// The free places. The place that became free last is used first.
    private var freePlaces: [UInt32] = []

    @inline(__always) var count: Int { insertedCount - removedCount }

    mutating func reserve(_ more: Int) {
        let needed = count + more
        if needed > places.capacity { places.reserveCapacity(max(needed, 2 * places.capacity)) }
    }

    @inline(__always)
    mutating func insert(_ operation: Unretained<AnyOperation>) {
        insertedCount += 1
        let place: UInt32
        if let free = freePlaces.popLast() {
            place = free
            assert(places[Int(place)] == nil, "A free place has no operation.")
            places[Int(place)] = operation
        } else {
            place = UInt32(places.count)
            places.append(operation)
        }
        operation.use { $0.registryIndex = place }
    }

    @inline(__always)
    mutating func remove(_ operation: AnyOperation) {
        let place = operation.registryIndex
        assert(places[Int(place)]?.refers(to: operation) == true)
        removedCount += 1
        if count == 0 { return reset() }
        places[Int(place)] = nil
        freePlaces.append(place)
    }

    private mutating func reset() {
        let keepsCapacity = places.count <= 4096
        places.removeAll(keepingCapacity: keepsCapacity)
        freePlaces.removeAll(keepingCapacity: keepsCapacity)
    }

    /// The place of an operation, and a reference that is only compared.
    struct Entry {
        fileprivate let place: UInt32
        fileprivate let operation: Unretained<AnyOperation>

        /// Makes an entry. Called by the thread that has inserted the operation.
        init(of operation: AnyOperation) {
            place = operation.registryIndex
            self.operation = Unretained(operation)
        }
    }

    /// Returns the operation at `entry`, or another one that has reused its place and its address. Returns nil if there
    /// is none.
    func member(at entry: Entry) -> AnyOperation? {
        guard let operation = operation(at: entry.place), operation == entry.operation else { return nil }
        return operation.object
    }

    private func operation(at place: UInt32) -> Unretained<AnyOperation>? {
        place < places.count ? places[Int(place)] : nil
    }

    /// Returns all operations, retained, in no particular order.
    ///
    /// - Complexity: O(n) for n places.
    func members() -> [AnyOperation] { places.compactMap { $0?.object } }

    /// Returns the operations that occupy `places` now, each once, retained.
    ///
    /// - Complexity: O(n log n) for n places.
    func members(at places: [UInt32]) -> [AnyOperation] {
        Set(places).sorted().compactMap { operation(at: $0)?.object }
    }
}

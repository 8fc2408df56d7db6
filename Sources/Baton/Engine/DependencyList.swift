/// Stores the dependencies of an operation in one word. Zero or one dependency, the common case, needs no allocation.
struct DependencyList: ~Copyable {
    /// The list retains its sources, but stores unmanaged references, because each access to a strong reference would
    /// retain and release the source.
    private enum Word {
        case none
        case one(Unretained<AnyOperation>)
        case many(Unretained<DependencyBlock>)
    }

    /// Dependencies that were taken out of the list. The caller releases them with this value.
    enum Taken {
        case none
        case one(AnyOperation)
        case many(DependencyBlock)
    }

    private var word = Word.none

    init() {}

    init(_ only: consuming AnyOperation) { word = .one(Retained(only).handOver()) }

    init(_ operations: [AnyOperation]) {
        switch operations.count {
        case 0: break
        case 1: word = .one(Retained(operations[0]).handOver())
        default: word = .many(Retained(DependencyBlock.make(operations)).handOver())
        }
    }

    deinit {
        switch word {
        case .none: break
        case .one(let source): Retained(handedOver: source).release()
        case .many(let block): Retained(handedOver: block).release()
        }
    }

    var isEmpty: Bool {
        if case .none = word { true } else { false }
    }

    var all: [AnyOperation] {
        switch word {
        case .none: []
        case .one(let operation): [operation.object]
        case .many(let block): block.use { $0.all }
        }
    }

    /// Returns the dependencies after the first `count` places, which include those of removed dependencies.
    func all(after count: Int) -> [AnyOperation] {
        switch word {
        case .none: []
        case .one(let operation): count == 0 ? [operation.object] : []
        case .many(let block): block.use { $0.all(after: count) }
        }
    }

    /// Returns the first `count` dependencies. Removed ones do not count.
    func first(_ count: Int) -> [AnyOperation] {
        switch word {
        case .none: []
        case .one(let operation): count > 0 ? [operation.object] : []
        case .many(let block): block.use { $0.first(count) }
        }
    }

    /// The dependency at a place that is known to be in use, such as that of an input.
    @inline(__always)
    subscript(place: Int) -> AnyOperation {
        switch word {
        case .one(let only):
            assert(place == 0, "A single dependency has the place 0.")
            return only.object
        case .many(let block): return block.use { $0[place] }
        case .none: preconditionFailure("Internal inconsistency: the input \(place) was dropped before the finish.")
        }
    }

    /// Calls `body` with each source, and with the node that links `operation` into the list of that source's
    /// dependents. Called by the thread that links the operation.
    @inline(__always)
    func enter(_ operation: Unretained<AnyOperation>, _ body: (DependentList.Place, Unretained<AnyOperation>) -> Void) {
        switch word {
        case .none: break
        case .one(let source): body(DependentList.Place(operation), source)
        case .many(let block): block.use { $0.enter(operation, body) }
        }
    }

    /// Like ``enter(_:_:)``, but does not store `operation` in the nodes, because linking has stored it.
    func visit(of operation: Unretained<AnyOperation>, _ body: (DependentList.Place, Unretained<AnyOperation>) -> Void)
    {
        switch word {
        case .none: break
        case .one(let source): body(DependentList.Place(operation), source)
        case .many(let block): block.use { $0.visit(body) }
        }
    }

    mutating func append(_ operation: consuming AnyOperation) { append(Retained(operation)) }

    mutating func append(_ operation: consuming Retained<AnyOperation>) {
        switch word {
        case .none: word = .one(operation.handOver())
        case .one(let first):
            let block = DependencyBlock.make(Retained(handedOver: first), operation)
            word = .many(Retained(block).handOver())
        case .many(let block):
            word = .many(Retained(Retained(handedOver: block).take().appending(operation)).handOver())
        }
    }

    /// The number of places, including those of removed dependencies.
    var placeCount: Int {
        switch word {
        case .none: 0
        case .one: 1
        case .many(let block): block.use { $0.placeCount }
        }
    }

    func contains(_ operation: AnyOperation) -> Bool { all.contains { $0 === operation } }

    /// Returns nil if the dependency was removed.
    func source(at place: Int) -> Unretained<AnyOperation>? {
        switch word {
        case .none: nil
        case .one(let only): only
        case .many(let block): block.use { $0.source(at: place) }
        }
    }

    /// Removes a source and leaves a hole. Returns the source, which the caller releases after unlocking.
    mutating func removeSource(at place: Int) -> AnyOperation? {
        switch word {
        case .none: return nil
        case .one(let only):
            word = .none
            return Retained(handedOver: only).take()
        case .many(let block): return block.use { $0.removeSource(at: place) }
        }
    }

    mutating func removeHoles() { self = DependencyList(all) }

    mutating func take() -> Taken {
        defer { word = .none }
        return switch word {
        case .none: .none
        case .one(let operation): .one(Retained(handedOver: operation).take())
        case .many(let block): .many(Retained(handedOver: block).take())
        }
    }

    /// Releases all dependencies. Called at the finish, when no source has the operation in its list any more.
    @inline(__always)
    mutating func drop() {
        switch word {
        case .none: break
        case .one(let source):
            word = .none
            Retained(handedOver: source).release()
        case .many(let block):
            word = .none
            Retained(handedOver: block).release()
        }
    }
}

/// Several dependencies, each with the operation's place in the list of that source.
final class DependencyBlock: ManagedBuffer<DependencyBlockHeader, DependencyNode> {
    @inline(__always)
    private static func make(capacity: Int) -> DependencyBlock {
        // This is safe, because `create` makes an object of the class that it is called on.
        let buffer = create(minimumCapacity: capacity) { _ in DependencyBlockHeader(capacity: UInt32(capacity)) }
        return unsafeDowncast(buffer, to: DependencyBlock.self)
    }

    /// Makes a block with room for one more dependency, because reallocating for every added dependency would take
    /// most of the time of building a graph. A block for four would exceed the size that malloc serves fastest.
    static func make(
        _ first: consuming Retained<AnyOperation>, _ second: consuming Retained<AnyOperation>
    ) -> DependencyBlock {
        let block = make(capacity: 3)
        block.append(first)
        block.append(second)
        return block
    }

    static func make(_ operations: [AnyOperation]) -> DependencyBlock {
        let block = make(capacity: operations.count)
        for operation in operations { block.append(Retained(operation)) }
        return block
    }

    deinit {
        for place in places { if let source = place.source { Retained(handedOver: source).release() } }
    }

    // The memory is accessed by address, because each access to the property of the superclass is checked for
    // exclusivity. This is safe, because the caller retains the block during the call, and because writes are
    // serialised: ``DependentList`` says who may write when.
    @inline(__always)
    private var count: UnsafeMutablePointer<DependencyBlockHeader> { withUnsafeMutablePointerToHeader { $0 } }

    /// The places that are in use.
    @inline(__always)
    private var places: UnsafeMutableBufferPointer<DependencyNode> {
        UnsafeMutableBufferPointer(start: withUnsafeMutablePointerToElements { $0 }, count: Int(count.pointee.used))
    }

    var all: [AnyOperation] { first(.max) }

    func all(after count: Int) -> [AnyOperation] {
        places.dropFirst(count).compactMap { $0.source?.object }
    }

    func first(_ count: Int) -> [AnyOperation] {
        Array(places.lazy.compactMap { $0.source?.object }.prefix(count))
    }

    /// The source of an input. Inputs cannot be removed, so their places are never holes.
    subscript(place: Int) -> AnyOperation { places[place].source!.object }

    var placeCount: Int { places.count }

    func source(at place: Int) -> Unretained<AnyOperation>? { places[place].source }

    func removeSource(at place: Int) -> AnyOperation? {
        places[place].source.take().map { Retained(handedOver: $0).take() }
    }

    /// Returns this block, or a larger copy if it is full. Called before the add has linked the operation.
    func appending(_ operation: consuming Retained<AnyOperation>) -> DependencyBlock {
        let capacity = Int(count.pointee.capacity)
        if places.count < capacity {
            append(operation)
            return self
        }
        let larger = Self.make(capacity: 2 * capacity)
        // Holes are copied as well, because callers have stored the numbers of the places.
        for place in places { larger.append(handedOver: place.source.map { Retained($0.object).handOver() }) }
        larger.append(operation)
        return larger
    }

    @inline(__always)
    private func append(_ operation: consuming Retained<AnyOperation>) { append(handedOver: operation.handOver()) }

    @inline(__always)
    private func append(handedOver source: Unretained<AnyOperation>?) {
        assert(count.pointee.used < count.pointee.capacity, "A full block is copied before an append.")
        count.pointee.used += 1
        let place = DependencyNode(source: source)
        withUnsafeMutablePointerToElements { ($0 + Int(count.pointee.used) - 1).initialize(to: place) }
    }

    /// Notes `operation` as the dependent in each place, and calls `body` with the place and its source.
    @inline(__always)
    func enter(_ operation: Unretained<AnyOperation>, _ body: (DependentList.Place, Unretained<AnyOperation>) -> Void) {
        for number in places.indices {
            let place = places.baseAddress! + number
            guard let source = place.pointee.source else { continue }
            place.pointee.dependent = operation
            body(DependentList.Place(place), source)
        }
    }

    func visit(_ body: (DependentList.Place, Unretained<AnyOperation>) -> Void) {
        for number in places.indices {
            let place = places.baseAddress! + number
            if let source = place.pointee.source { body(DependentList.Place(place), source) }
        }
    }
}

/// The header of a ``DependencyBlock``.
struct DependencyBlockHeader {
    var used: UInt32 = 0
    let capacity: UInt32

    init(capacity: UInt32) { self.capacity = capacity }
}

/// One of several dependencies of an operation.
struct DependencyNode {
    /// The source, which is retained. Nil if this dependency was removed before the add.
    var source: Unretained<AnyOperation>?
    /// The operation that has this dependency. Set when the source has the place in its list.
    var dependent: Unretained<AnyOperation>?
    /// The neighbours in the source's list.
    var next: DependentList.Place?
    var previous: DependentList.Place?
}

// MARK: - Dependents

/// The operations that the finish counts down, in the order in which they were registered. They are not retained: until
/// an added operation has been counted down for all of its sources, its queue keeps it alive.
///
/// The list is linked through the dependents, so that nothing is allocated. A dependent with a single source uses its
/// own `next` and `previous`, which it does not need before it is ready; a dependent with several sources uses a place
/// of its ``DependencyBlock``. The last place links to the first one, so that one word gives access to both ends. Every
/// place but the first also links to the one before it, so that a dependent that ends early leaves the list at once.
///
/// The links are guarded by the source's lock. When the finish has taken the list out, the links of each dependent
/// belong to the finishing thread until it counts that dependent down.
struct DependentList {
    /// The position of a dependent in the list.
    struct Place: Equatable {
        /// The address of an operation or, with the lowest bit set, of a place in its block.
        private let word: UnsafeMutableRawPointer

        @inline(__always)
        init(_ only: Unretained<AnyOperation>) { word = only.address }

        init(_ place: UnsafeMutablePointer<DependencyNode>) { word = UnsafeMutableRawPointer(place) + 1 }

        private var isOperation: Bool { UInt(bitPattern: word) & 1 == 0 }
        private var edge: UnsafeMutablePointer<DependencyNode> {
            (word - 1).assumingMemoryBound(to: DependencyNode.self)
        }

        fileprivate var operation: Unretained<AnyOperation> {
            isOperation ? Unretained(address: word) : edge.pointee.dependent!
        }

        /// The operation of a place that is known not to be a place in a block, as in an ``IntrusiveList``.
        @inline(__always)
        var onlyOperation: Unretained<AnyOperation> {
            assert(isOperation, "A list of ready operations is linked through the operations alone.")
            return Unretained(address: word)
        }

        /// The place before this one. It is not defined for the first place.
        fileprivate var previous: Place {
            get {
                (isOperation ? operation.use { $0.previous } : edge.pointee.previous)!
            }
            nonmutating set {
                if isOperation {
                    operation.use { $0.previous = newValue }
                } else {
                    edge.pointee.previous = newValue
                }
            }
        }

        fileprivate var next: Place {
            get {
                (isOperation ? operation.use { $0.next } : edge.pointee.next)!
            }
            nonmutating set {
                if isOperation {
                    operation.use { $0.next = newValue }
                } else {
                    edge.pointee.next = newValue
                }
            }
        }
    }

    private var last: Place?

    var isEmpty: Bool { last == nil }

    var count: Int {
        var count = 0
        visit { _ in count += 1 }
        return count
    }

    @inline(__always)
    mutating func append(_ place: Place) {
        if let last {
            place.next = last.next
            place.previous = last
            last.next = place
        } else {
            place.next = place
        }
        last = place
    }

    /// Removes a place, which has to be in the list.
    mutating func remove(_ place: Place) {
        guard let last else { preconditionFailure("nothing is in the list") }
        let next = place.next
        if next == place {
            self.last = nil
            return
        }
        let previous = last.next == place ? last : place.previous
        assert(previous.next == place, "A place is removed from the list that contains it.")
        previous.next = next
        next.previous = previous
        if place == last { self.last = previous }
    }

    /// Calls `body` with each dependent, which `body` may count down and release.
    @inline(__always)
    func visit(_ body: (Unretained<AnyOperation>) -> Void) {
        guard let last else { return }
        var next = last.next
        while true {
            let place = next
            let operation = place.operation
            let isLast = place == last
            if !isLast { next = place.next }
            body(operation)
            if isLast { return }
        }
    }

    func areAll(in known: Set<ObjectIdentifier>) -> Bool {
        var areKnown = true
        visit { dependent in
            if !dependent.use({ known.contains(ObjectIdentifier($0)) }) { areKnown = false }
        }
        return areKnown
    }

    /// Returns the dependents, retained. The caller holds the lock of the source, so the finish of the source has not
    /// counted any of them down.
    func retained(first limit: Int = .max) -> [AnyOperation] {
        guard let last else { return [] }
        var retained: [AnyOperation] = []
        var place = last.next
        while retained.count < limit {
            retained.append(place.operation.object)
            if place == last { break }
            place = place.next
        }
        return retained
    }
}

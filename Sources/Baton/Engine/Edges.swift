/// What an operation depends on, in a single word: most have one dependency or none, which costs no object.
enum Edges {
    case none
    case one(AnyOperation)
    case many(EdgeBlock)

    init(_ operations: [AnyOperation]) {
        switch operations.count {
        case 0: self = .none
        case 1: self = .one(operations[0])
        default: self = .many(.make(operations))
        }
    }

    var isEmpty: Bool {
        if case .none = self { true } else { false }
    }

    var all: [AnyOperation] {
        switch self {
        case .none: []
        case .one(let operation): [operation]
        case .many(let block): block.all
        }
    }

    /// Of one that has that many.
    @inline(__always)
    subscript(place: Int) -> AnyOperation {
        switch self {
        case .one(let only): only
        case .many(let block): block[place]
        case .none: fatalError("an operation keeps its inputs until it has finished")
        }
    }

    mutating func append(_ operation: consuming AnyOperation) {
        switch take() {
        case .none: self = .one(operation)
        case .one(let first): self = .many(.make(first, operation))
        case .many(let block): self = .many(block.appending(operation))
        }
    }

    /// Whether it is one of the first.
    func contains(_ operation: AnyOperation, inFirst count: Int) -> Bool {
        all.prefix(count).contains { $0 === operation }
    }

    /// Wherever it is, but for the first ones. The others keep their order.
    mutating func remove(_ operation: AnyOperation, afterFirst count: Int) {
        let all = all
        self = Edges(all.prefix(count) + all.dropFirst(count).filter { $0 !== operation })
    }

    @inline(__always)
    mutating func take() -> Self {
        let all = self
        self = .none
        return all
    }

    /// At the finish. `areCountedDown`: no source has the operation in its list any more.
    @inline(__always)
    mutating func drop(areCountedDown: @autoclosure () -> Bool) {
        switch self {
        case .none: break
        case .one: self = .none
        case .many(let block): if areCountedDown() { self = .none } else { block.drop() }
        }
    }
}

/// Several dependencies, each with the place in which the operation stands in the list of that source.
final class EdgeBlock: ManagedBuffer<EdgeCount, EdgePlace> {
    @inline(__always)
    private static func make(capacity: Int) -> EdgeBlock {
        // Safe: `create` makes an object of the class that it is called on.
        let buffer = create(minimumCapacity: capacity) { _ in EdgeCount(capacity: UInt32(capacity)) }
        return unsafeDowncast(buffer, to: EdgeBlock.self)
    }

    /// With room for two more: growing by one again and again costs as much as the graph.
    static func make(_ first: consuming AnyOperation, _ second: consuming AnyOperation) -> EdgeBlock {
        let block = make(capacity: 4)
        block.append(first)
        block.append(second)
        return block
    }

    static func make(_ operations: [AnyOperation]) -> EdgeBlock {
        let block = make(capacity: operations.count)
        for operation in operations { block.append(operation) }
        return block
    }

    deinit { drop() }

    // Its memory by address: the property of the superclass is looked at for conflicting accesses each time. Safe: whoever asks
    // the block for something holds it. Who may write when is said at ``Dependents``.
    @inline(__always)
    private var count: UnsafeMutablePointer<EdgeCount> { withUnsafeMutablePointerToHeader { $0 } }

    /// Those that are used.
    @inline(__always)
    private var places: UnsafeMutableBufferPointer<EdgePlace> {
        UnsafeMutableBufferPointer(start: withUnsafeMutablePointerToElements { $0 }, count: Int(count.pointee.used))
    }

    var all: [AnyOperation] { places.map { $0.source.takeUnretainedValue() } }

    subscript(place: Int) -> AnyOperation { places[place].source.takeUnretainedValue() }

    /// Itself, or a larger one in its stead. Before the add has linked the operation.
    func appending(_ operation: consuming AnyOperation) -> EdgeBlock {
        let capacity = Int(count.pointee.capacity)
        if places.count < capacity {
            append(operation)
            return self
        }
        let larger = Self.make(capacity: 2 * capacity)
        for source in all { larger.append(source) }
        larger.append(operation)
        return larger
    }

    @inline(__always)
    private func append(_ operation: consuming AnyOperation) {
        count.pointee.used += 1
        let place = EdgePlace(source: .passRetained(operation))
        withUnsafeMutablePointerToElements { ($0 + Int(count.pointee.used) - 1).initialize(to: place) }
    }

    /// For the one that links the operation: each of its places with the source in whose list it belongs.
    @inline(__always)
    func enter(_ operation: Unmanaged<AnyOperation>, _ body: (Dependents.Place, Unmanaged<AnyOperation>) -> Void) {
        for number in places.indices {
            let place = places.baseAddress! + number
            place.pointee.dependent = operation
            body(Dependents.Place(place), place.pointee.source)
        }
    }

    /// Lets go of the sources. The places stay: those sources that have not finished have them in their lists.
    func drop() {
        let places = places
        count.pointee.used = 0
        for place in places { place.source.release() }
    }
}

/// Of an ``EdgeBlock``.
struct EdgeCount {
    var used: UInt32 = 0
    let capacity: UInt32

    init(capacity: UInt32) { self.capacity = capacity }
}

/// One of several dependencies of an operation.
struct EdgePlace {
    /// Retained.
    let source: Unmanaged<AnyOperation>
    /// Whose dependency it is, when the source has it in its list.
    var dependent: Unmanaged<AnyOperation>?
    /// In that list.
    var next: UnsafeMutableRawPointer?
}

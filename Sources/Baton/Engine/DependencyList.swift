/// What an operation depends on, in a single word: most have one dependency or none, which costs no object.
struct DependencyList: ~Copyable {
    /// Retained. As references, each look at them would take one more and give it back.
    private enum Word {
        case none
        case one(Unmanaged<AnyOperation>)
        case many(Unmanaged<DependencyBlock>)
    }

    /// What was taken out, to be released with it.
    enum Taken {
        case none
        case one(AnyOperation)
        case many(DependencyBlock)
    }

    private var word = Word.none

    init() {}

    init(_ only: consuming AnyOperation) { word = .one(.passRetained(only)) }

    init(_ operations: [AnyOperation]) {
        switch operations.count {
        case 0: break
        case 1: word = .one(.passRetained(operations[0]))
        default: word = .many(.passRetained(.make(operations)))
        }
    }

    deinit { _ = taken }

    var isEmpty: Bool {
        if case .none = word { true } else { false }
    }

    var all: [AnyOperation] {
        switch word {
        case .none: []
        case .one(let operation): [operation.takeUnretainedValue()]
        case .many(let block): block._withUnsafeGuaranteedRef { $0.all }
        }
    }

    /// Returns the dependencies after the first `count` places.
    func all(after count: Int) -> [AnyOperation] {
        switch word {
        case .none: []
        case .one(let operation): count == 0 ? [operation.takeUnretainedValue()] : []
        case .many(let block): block._withUnsafeGuaranteedRef { $0.all(after: count) }
        }
    }

    func first(_ count: Int) -> [AnyOperation] {
        switch word {
        case .none: []
        case .one(let operation): count > 0 ? [operation.takeUnretainedValue()] : []
        case .many(let block): block._withUnsafeGuaranteedRef { $0.first(count) }
        }
    }

    /// Of one that has that many.
    @inline(__always)
    subscript(place: Int) -> AnyOperation {
        switch word {
        case .one(let only): only.takeUnretainedValue()
        case .many(let block): block._withUnsafeGuaranteedRef { $0[place] }
        case .none: fatalError("an operation keeps its inputs until it has finished")
        }
    }

    /// For the one that links the operation: where it stands in the list of a source, and that source, one after
    /// another.
    @inline(__always)
    func enter(_ operation: Unmanaged<AnyOperation>, _ body: (DependentList.Place, Unmanaged<AnyOperation>) -> Void) {
        switch word {
        case .none: break
        case .one(let source): body(DependentList.Place(operation), source)
        case .many(let block): block._withUnsafeGuaranteedRef { $0.enter(operation, body) }
        }
    }

    /// As above, for one that has been linked.
    func visit(of operation: Unmanaged<AnyOperation>, _ body: (DependentList.Place, Unmanaged<AnyOperation>) -> Void) {
        switch word {
        case .none: break
        case .one(let source): body(DependentList.Place(operation), source)
        case .many(let block): block._withUnsafeGuaranteedRef { $0.visit(body) }
        }
    }

    mutating func append(_ operation: consuming AnyOperation) { append(retained: .passRetained(operation)) }

    /// Takes over the reference.
    mutating func append(retained operation: Unmanaged<AnyOperation>) {
        switch word {
        case .none: word = .one(operation)
        case .one(let first):
            word = .many(.passRetained(.make(first.takeRetainedValue(), operation.takeRetainedValue())))
        case .many(let block):
            word = .many(.passRetained(block.takeRetainedValue().appending(operation.takeRetainedValue())))
        }
    }

    /// Those of removed dependencies included.
    var placeCount: Int {
        switch word {
        case .none: 0
        case .one: 1
        case .many(let block): block._withUnsafeGuaranteedRef { $0.placeCount }
        }
    }

    func contains(_ operation: AnyOperation) -> Bool { all.contains { $0 === operation } }

    /// Nil: the dependency was removed.
    func source(at place: Int) -> Unmanaged<AnyOperation>? {
        switch word {
        case .none: nil
        case .one(let only): only
        case .many(let block): block._withUnsafeGuaranteedRef { $0.source(at: place) }
        }
    }

    /// Leaves a hole. Returns the source, for the caller to release after unlocking.
    mutating func removeSource(at place: Int) -> AnyOperation? {
        switch word {
        case .none: return nil
        case .one(let only):
            word = .none
            return only.takeRetainedValue()
        case .many(let block): return block._withUnsafeGuaranteedRef { $0.removeSource(at: place) }
        }
    }

    mutating func removeHoles() { self = DependencyList(all) }

    mutating func take() -> Taken {
        let taken = taken
        word = .none
        return taken
    }

    private var taken: Taken {
        switch word {
        case .none: .none
        case .one(let operation): .one(operation.takeRetainedValue())
        case .many(let block): .many(block.takeRetainedValue())
        }
    }

    /// At the finish, when no source has the operation in its list any more.
    @inline(__always)
    mutating func drop() {
        switch word {
        case .none: break
        case .one(let source):
            word = .none
            source.release()
        case .many(let block):
            word = .none
            block.release()
        }
    }
}

/// Several dependencies, each with the place in which the operation stands in the list of that source.
final class DependencyBlock: ManagedBuffer<DependencyCount, DependencyNode> {
    @inline(__always)
    private static func make(capacity: Int) -> DependencyBlock {
        // Safe: `create` makes an object of the class that it is called on.
        let buffer = create(minimumCapacity: capacity) { _ in DependencyCount(capacity: UInt32(capacity)) }
        return unsafeDowncast(buffer, to: DependencyBlock.self)
    }

    /// The block has room for one more, because growing by one each time would cost as much as the graph. A block for
    /// four exceeds the size that malloc serves fastest.
    static func make(_ first: consuming AnyOperation, _ second: consuming AnyOperation) -> DependencyBlock {
        let block = make(capacity: 3)
        block.append(first)
        block.append(second)
        return block
    }

    static func make(_ operations: [AnyOperation]) -> DependencyBlock {
        let block = make(capacity: operations.count)
        for operation in operations { block.append(operation) }
        return block
    }

    deinit {
        for place in places { place.source?.release() }
    }

    // Its memory by address: the property of the superclass is looked at for conflicting accesses each time. Safe:
    // whoever asks the block for something holds it. Who may write when is said at ``DependentList``.
    @inline(__always)
    private var count: UnsafeMutablePointer<DependencyCount> { withUnsafeMutablePointerToHeader { $0 } }

    /// Those that are used.
    @inline(__always)
    private var places: UnsafeMutableBufferPointer<DependencyNode> {
        UnsafeMutableBufferPointer(start: withUnsafeMutablePointerToElements { $0 }, count: Int(count.pointee.used))
    }

    var all: [AnyOperation] { first(.max) }

    func all(after count: Int) -> [AnyOperation] {
        places.dropFirst(count).compactMap { $0.source?.takeUnretainedValue() }
    }

    func first(_ count: Int) -> [AnyOperation] {
        Array(places.lazy.compactMap { $0.source?.takeUnretainedValue() }.prefix(count))
    }

    /// Of one that hands over its output: it cannot be removed.
    subscript(place: Int) -> AnyOperation { places[place].source!.takeUnretainedValue() }

    var placeCount: Int { places.count }

    func source(at place: Int) -> Unmanaged<AnyOperation>? { places[place].source }

    func removeSource(at place: Int) -> AnyOperation? { places[place].source.take()?.takeRetainedValue() }

    /// Itself, or a larger one in its stead. Before the add has linked the operation.
    func appending(_ operation: consuming AnyOperation) -> DependencyBlock {
        let capacity = Int(count.pointee.capacity)
        if places.count < capacity {
            append(operation)
            return self
        }
        let larger = Self.make(capacity: 2 * capacity)
        // Holes stay, because somebody knows the places.
        for place in places { larger.append(place.source?.retain()) }
        larger.append(operation)
        return larger
    }

    @inline(__always)
    private func append(_ operation: consuming AnyOperation) { append(.passRetained(operation)) }

    /// Takes the reference.
    @inline(__always)
    private func append(_ source: Unmanaged<AnyOperation>?) {
        count.pointee.used += 1
        let place = DependencyNode(source: source)
        withUnsafeMutablePointerToElements { ($0 + Int(count.pointee.used) - 1).initialize(to: place) }
    }

    /// Each of its places, with the source in whose list it belongs.
    @inline(__always)
    func enter(_ operation: Unmanaged<AnyOperation>, _ body: (DependentList.Place, Unmanaged<AnyOperation>) -> Void) {
        for number in places.indices {
            let place = places.baseAddress! + number
            guard let source = place.pointee.source else { continue }
            place.pointee.dependent = operation
            body(DependentList.Place(place), source)
        }
    }

    func visit(_ body: (DependentList.Place, Unmanaged<AnyOperation>) -> Void) {
        for number in places.indices {
            let place = places.baseAddress! + number
            if let source = place.pointee.source { body(DependentList.Place(place), source) }
        }
    }
}

/// Of an ``DependencyBlock``.
struct DependencyCount {
    var used: UInt32 = 0
    let capacity: UInt32

    init(capacity: UInt32) { self.capacity = capacity }
}

/// One of several dependencies of an operation.
struct DependencyNode {
    /// Retained. Nil: this dependency was removed before the add.
    var source: Unmanaged<AnyOperation>?
    /// Whose dependency it is, when the source has it in its list.
    var dependent: Unmanaged<AnyOperation>?
    /// In that list.
    var next: UnsafeMutableRawPointer?
    var previous: UnsafeMutableRawPointer?
}

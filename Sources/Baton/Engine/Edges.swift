/// None, one or many in a single word: most operations have one dependency and one dependent, which costs no array.
enum Edges {
    case none
    case one(AnyOperation)
    case many([AnyOperation])

    var isEmpty: Bool {
        if case .none = self { true } else { false }
    }

    var all: [AnyOperation] {
        switch self {
        case .none: []
        case .one(let operation): [operation]
        case .many(let operations): operations
        }
    }

    var count: Int {
        switch self {
        case .none: 0
        case .one: 1
        case .many(let operations): operations.count
        }
    }

    /// Without retaining each: whoever holds the edges does.
    @inline(__always)
    func visit(_ body: (Unmanaged<AnyOperation>) -> Void) {
        switch self {
        case .none: break
        case .one(let operation): body(.passUnretained(operation))
        case .many(let operations):
            operations.withUnsafeBufferPointer { all in
                for place in all.indices { body(.passUnretained(all[place])) }
            }
        }
    }

    mutating func append(_ operation: consuming AnyOperation) {
        switch take() {
        case .none: self = .one(operation)
        case .one(let first): self = .many(.few(first, operation))
        case .many(var operations):
            operations.append(operation)
            self = .many(operations)
        }
    }

    /// Whether it is one of the first.
    func contains(_ operation: AnyOperation, inFirst count: Int) -> Bool {
        switch self {
        case .none: false
        case .one(let only): count > 0 && only === operation
        case .many(let operations): operations[..<count].contains { $0 === operation }
        }
    }

    /// Wherever it is, but for the first ones. The others keep their order.
    mutating func remove(_ operation: AnyOperation, afterFirst count: Int) {
        switch take() {
        case .none: break
        case .one(let only): if count > 0 || only !== operation { self = .one(only) }
        case .many(var operations):
            while let place = operations[count...].lastIndex(where: { $0 === operation }) {
                operations.remove(at: place)
            }
            self = Edges(operations)
        }
    }

    @inline(__always)
    mutating func take() -> Self {
        let all = self
        self = .none
        return all
    }

    init(_ operations: [AnyOperation]) {
        switch operations.count {
        case 0: self = .none
        case 1: self = .one(operations[0])
        default: self = .many(operations)
        }
    }
}

/// The operations to count down at the finish. Not retained: until it has been counted down by all its sources, an
/// added operation is kept alive by its queue.
enum Dependents {
    case none
    case one(Unmanaged<AnyOperation>)
    case many([Unmanaged<AnyOperation>])

    var isEmpty: Bool {
        if case .none = self { true } else { false }
    }

    var count: Int {
        switch self {
        case .none: 0
        case .one: 1
        case .many(let operations): operations.count
        }
    }

    mutating func append(_ operation: Unmanaged<AnyOperation>) {
        switch self {
        case .none: self = .one(operation)
        case .one(let first): self = .many(.few(first, operation))
        case .many(var operations):
            self = .none
            operations.append(operation)
            self = .many(operations)
        }
    }

    @inline(__always)
    func visit(_ body: (Unmanaged<AnyOperation>) -> Void) {
        switch self {
        case .none: break
        case .one(let operation): body(operation)
        case .many(let operations): for operation in operations { body(operation) }
        }
    }

    /// Retained, for a reader that holds the lock of the operation they depend on: none has been counted down by it yet.
    func retained() -> [AnyOperation] {
        var all: [AnyOperation] = []
        visit { all.append($0.takeUnretainedValue()) }
        return all
    }
}

extension Array {
    /// With room for two more: growing by one again and again costs as much as the graph.
    @inline(__always)
    fileprivate static func few(_ first: consuming Element, _ second: consuming Element) -> Self {
        var array = Self()
        array.reserveCapacity(4)
        array.append(first)
        array.append(second)
        return array
    }
}

/// The operations to count down at the finish, in the order in which they came. Not retained: until it has been counted
/// down for all its sources, an added operation is kept alive by its queue.
///
/// A list that is linked through the dependents, so that nothing is allocated: one that has a single source stands in
/// it with its `link` and its `backLink`, which it does not need before it is ready, one that has several with a place
/// of its ``DependencyBlock``. The last leads to the first, so that one word knows both ends. Each but the first leads
/// to the one before it, too, so that a dependent that ends early leaves the list at once. The links are guarded by the
/// source's lock; when the finish has taken the list out, they are its own, each until that dependent is counted down.
struct DependentList {
    /// Where a dependent stands.
    struct Place: Equatable {
        /// An operation, or, with the lowest bit set, one of the places of its block.
        fileprivate let word: UnsafeMutableRawPointer

        fileprivate init(word: UnsafeMutableRawPointer) { self.word = word }

        init(_ only: Unmanaged<AnyOperation>) { word = only.toOpaque() }

        init(_ place: UnsafeMutablePointer<DependencyNode>) { word = UnsafeMutableRawPointer(place) + 1 }

        private var isOperation: Bool { UInt(bitPattern: word) & 1 == 0 }
        private var edge: UnsafeMutablePointer<DependencyNode> {
            (word - 1).assumingMemoryBound(to: DependencyNode.self)
        }

        fileprivate var operation: Unmanaged<AnyOperation> {
            isOperation ? .fromOpaque(word) : edge.pointee.dependent!
        }

        /// Of any place but the first.
        fileprivate var previous: Place {
            get {
                let previous = isOperation ? operation._withUnsafeGuaranteedRef { $0.backLink } : edge.pointee.previous
                return Place(word: previous!)
            }
            nonmutating set {
                if isOperation {
                    operation._withUnsafeGuaranteedRef { $0.backLink = newValue.word }
                } else {
                    edge.pointee.previous = newValue.word
                }
            }
        }

        fileprivate var next: Place {
            get {
                let next = isOperation ? operation._withUnsafeGuaranteedRef { $0.link } : edge.pointee.next
                return Place(word: next!)
            }
            nonmutating set {
                if isOperation {
                    operation._withUnsafeGuaranteedRef { $0.link = newValue.word }
                } else {
                    edge.pointee.next = newValue.word
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

    /// Of one that is in the list.
    mutating func remove(_ place: Place) {
        guard let last else { preconditionFailure("nothing is in the list") }
        let next = place.next
        if next == place {
            self.last = nil
            return
        }
        let previous = last.next == place ? last : place.previous
        previous.next = next
        next.previous = previous
        if place == last { self.last = previous }
    }

    /// Each may be counted down, and let go.
    @inline(__always)
    func visit(_ body: (Unmanaged<AnyOperation>) -> Void) {
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
            if !dependent._withUnsafeGuaranteedRef({ known.contains(ObjectIdentifier($0)) }) { areKnown = false }
        }
        return areKnown
    }

    /// Retained, for a reader that holds the lock of the operation they depend on: none has been counted down by it
    /// yet.
    func retained(first limit: Int = .max) -> [AnyOperation] {
        guard let last else { return [] }
        var retained: [AnyOperation] = []
        var place = last.next
        while retained.count < limit {
            retained.append(place.operation.takeUnretainedValue())
            if place == last { break }
            place = place.next
        }
        return retained
    }
}

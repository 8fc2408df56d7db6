/// The operations that the finish counts down, in the order in which they were registered. They are not retained: until
/// an added operation has been counted down for all of its sources, its queue keeps it alive.
///
/// The list is linked through the dependents, so that nothing is allocated. A dependent with a single source uses its
/// own `link` and `backLink`, which it does not need before it is ready; a dependent with several sources uses a place
/// of its ``DependencyBlock``. The last place links to the first one, so that one word gives access to both ends. Every
/// place but the first also links to the one before it, so that a dependent that ends early leaves the list at once.
///
/// The links are guarded by the source's lock. When the finish has taken the list out, the links of each dependent
/// belong to the finishing thread until it counts that dependent down.
struct DependentList {
    /// The position of a dependent in the list.
    struct Place: Equatable {
        /// The address of an operation or, with the lowest bit set, of a place in its block.
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

        /// The place before this one. It is not defined for the first place.
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

    /// Removes a place, which has to be in the list.
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

    /// Calls `body` with each dependent, which `body` may count down and release.
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

    /// Returns the dependents, retained. The caller holds the lock of the source, so the finish of the source has not
    /// counted any of them down.
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

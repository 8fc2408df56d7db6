import Testing

@testable import Baton

@Suite struct ReferenceTests {
    private final class Object: Sendable {
        let number: Int

        init(_ number: Int = 0) { self.number = number }
    }

    @Test("An unretained reference does not keep its object alive")
    func unretained() {
        var object: Object? = Object(7)
        weak let observed = object
        let reference = Unretained(object!)
        #expect(reference.use { $0.number } == 7)
        #expect(reference.object === object)
        object = nil
        #expect(observed == nil)
    }

    @Test("Unretained references are equal if they refer to the same object")
    func identity() {
        let (one, other) = (Object(), Object())
        #expect(Unretained(one) == Unretained(one))
        #expect(Unretained(one) != Unretained(other))
        #expect(Unretained(one).refers(to: one) && !Unretained(one).refers(to: other))
        #expect(Set([Unretained(one), Unretained(other), Unretained(one)]).count == 2)
        #expect(Unretained<Object>(address: Unretained(one).address) == Unretained(one))
    }

    @Test("An owner that is used up by a release releases its object once")
    func release() {
        var object: Object? = Object()
        weak let observed = object
        let owner = Retained(object!)
        object = nil
        #expect(observed != nil)
        owner.release()
        #expect(observed == nil)
    }

    @Test("An owner that nobody uses up releases its object at its end")
    func end() {
        weak var observed: Object?
        do {
            let owner = Retained(Object(7))
            observed = owner.unretained.object
            #expect(owner.use { $0.number } == 7)
        }
        #expect(observed == nil)
        do {
            var owner: Retained<Object>? = Retained(Object())
            observed = owner?.unretained.object
            owner = nil
            #expect(observed == nil)
        }
    }

    @Test("An owner passes its reference on to an ordinary one")
    func take() {
        var object: Object? = Retained(Object(7)).take()
        weak let observed = object
        #expect(object?.number == 7)
        object = nil
        #expect(observed == nil)
    }

    @Test("A reference that was handed over is released by the owner that is restored from it")
    func handOver() {
        let owner = Retained(Object())
        weak let observed = owner.unretained.object
        let stored = [owner.handOver()]
        #expect(observed != nil)
        Retained(handedOver: stored[0]).release()
        #expect(observed == nil)
    }

    @Test("A new edge takes over the reference to its source, and one that comes too late releases it")
    func edges() {
        let operation = AsyncOperation {}
        weak var source: AnyOperation?
        do {
            let made = AsyncOperation {}
            source = made
            operation.addDependency(made)
        }
        #expect(source != nil)
        let stage = TestQueue()
        stage.run(source!, operation)
        #expect(source == nil, "The finish has dropped the edge.")
        do {
            let late = AsyncOperation {}
            source = late
            operation.addDependencyUnlessEnded(late, on: .always, inOrderOf: GroupOperation())
        }
        #expect(source == nil)
    }
}

@Suite struct CastTests {
    @Test("A stored value is cast to its own type, and to a type that it can be converted to")
    func values() {
        #expect(cast(7, to: Int.self) == 7)
        #expect(cast("seven", to: String.self) == "seven")
        #expect(cast(7, to: (any Sendable).self) as? Int == 7)
        let nested: Int?? = cast(Optional(7), to: Int??.self)
        #expect(nested == 7)
    }

    @Test("An array of operations of one type is an array of operations without a copy")
    func arrays() {
        let operations = (0..<3).map { number in AsyncOperation { number } }
        let all = operations.asOperations
        #expect(all == operations.map { $0 as AnyOperation })
        #expect([AsyncOperation<Int>]().asOperations.isEmpty)
        #expect(all[1].withOutput(Int.self) === operations[1])
    }

    @Test("A type is found at the address of its identity, and a static string at its own")
    func addresses() {
        #expect(metatype(at: UInt(bitPattern: ObjectIdentifier(Int.self))) == Int.self)
        #expect(metatype(at: UInt(bitPattern: ObjectIdentifier([String].self))) == [String].self)
        #expect(metatype(at: 0) == nil)
        let string: StaticString = "some/file.swift"
        #expect(text(ofStaticStringAt: UInt(bitPattern: string.utf8Start)) == "some/file.swift")
        #expect(text(ofStaticStringAt: 0) == nil)
    }

    @Test("Each priority has a value of its own in a priority map", arguments: OperationPriority.allCases)
    func priorities(changed: OperationPriority) {
        var map = PriorityMap(repeating: [0])
        let count = map.change(changed) { values in
            values.append(1)
            return values.count
        }
        #expect(count == 2)
        for priority in OperationPriority.allCases { #expect(map[priority] == (priority == changed ? [0, 1] : [0])) }
    }

    @Test("An atomic priority stores every priority", arguments: OperationPriority.allCases)
    func atomicPriority(priority: OperationPriority) {
        let operation = AsyncOperation {}
        operation.currentPriority = priority
        #expect(operation.currentPriority == priority)
    }
}

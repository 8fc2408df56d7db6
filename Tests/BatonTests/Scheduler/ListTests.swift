import Testing

@testable import Baton

@Suite struct ListTests {
    private let operations = (0..<4).map { AsyncOperation("\($0)") {} as AnyOperation }

    private func drain(_ list: inout IntrusiveList) -> [String] {
        var names: [String] = []
        while let first = list.popFirst() { names.append(first.object.name!) }
        return names
    }

    @Test func aReadyListIsFirstInFirstOut() {
        var list = IntrusiveList()
        #expect(list.isEmpty)
        for operation in operations { list.append(Unretained(operation)) }
        #expect(!list.isEmpty)
        #expect(drain(&list) == ["0", "1", "2", "3"])
        #expect(list.isEmpty)
    }

    @Test func anEmptiedReadyListCanBeFilledAgain() {
        var list = IntrusiveList()
        list.append(Unretained(operations[0]))
        _ = list.popFirst()
        list.append(Unretained(operations[1]))
        list.append(Unretained(operations[2]))
        #expect(list.popFirst()?.object === operations[1])
        list.append(Unretained(operations[3]))
        #expect(drain(&list) == ["2", "3"])
    }

    @Test func anOperationKeepsNoLinkToAFormerNeighbour() {
        var list = IntrusiveList()
        list.append(Unretained(operations[0]))
        list.append(Unretained(operations[1]))
        _ = list.popFirst()
        var other = IntrusiveList()
        other.append(Unretained(operations[0]))
        #expect(drain(&other) == ["0"])
    }

    @Test("Any operation can be taken out of a ready list", arguments: 0..<4, 0..<4)
    func takenOut(first: Int, second: Int) {
        var list = IntrusiveList()
        // The neighbours were added at both ends, and one of them was removed.
        for operation in operations[2...] { list.append(Unretained(operation)) }
        list.prepend(Unretained(operations[1]))
        list.prepend(Unretained(operations[0]))
        list.remove(Unretained(operations[first]))
        if second != first { list.remove(Unretained(operations[second])) }
        list.append(Unretained(operations[first]))
        let rest = (0..<4).filter { $0 != first && $0 != second }.map { "\($0)" }
        #expect(drain(&list) == rest + ["\(first)"])
        #expect(list.isEmpty)
    }

    @Test("An operation that has become the first of a ready list can be taken out")
    func takenOutAtTheFront() {
        var list = IntrusiveList()
        for operation in operations { list.append(Unretained(operation)) }
        _ = list.popFirst()
        list.remove(Unretained(operations[1]))
        list.remove(Unretained(operations[3]))
        #expect(drain(&list) == ["2"])
    }

    @Test(arguments: [1, 1_000, 5_000]) func aFifoKeepsTheOrder(count: Int) {
        var fifo = FIFOQueue<Int>()
        for number in 0..<count { fifo.append(number) }
        for number in 0..<count { #expect(fifo.popFirst() == number) }
        #expect(fifo.isEmpty)
        #expect(fifo.popFirst() == nil)
        fifo.append(7)
        #expect(fifo.popFirst() == 7)
    }

    @Test("A queue releases each element as soon as it is popped", arguments: [1, 100, 5_000])
    func poppedElementsAreReleased(count: Int) {
        let tokens = Tokens()
        var fifo = FIFOQueue<Token>()
        for _ in 0..<count { fifo.append(tokens.make()) }
        for left in (0..<count).reversed() {
            _ = fifo.popFirst()
            #expect(tokens.alive == left)
        }
    }

    /// The queue removes its used front in steps of 1,024 elements while it is in use.
    @Test func aFifoThatNeverEmptiesKeepsTheOrder() {
        var fifo = FIFOQueue<Int>()
        var next = 0
        for number in 0..<10_000 {
            fifo.append(number)
            if number % 3 != 0 {
                #expect(fifo.popFirst() == next)
                next += 1
            }
        }
        while let number = fifo.popFirst() {
            #expect(number == next)
            next += 1
        }
        #expect(next == 10_000)
    }
}

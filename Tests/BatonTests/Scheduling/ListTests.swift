import Testing

@testable import Baton

@Suite struct ListTests {
    private let operations = (0..<4).map { AsyncOperation("\($0)") {} as AnyOperation }

    private func drain(_ list: inout ReadyList) -> [String] {
        var names: [String] = []
        while let first = list.popFirst() { names.append(first.takeUnretainedValue().name!) }
        return names
    }

    @Test func aReadyListIsFirstInFirstOut() {
        var list = ReadyList()
        #expect(list.isEmpty)
        for operation in operations { list.append(.passUnretained(operation)) }
        #expect(!list.isEmpty)
        #expect(drain(&list) == ["0", "1", "2", "3"])
        #expect(list.isEmpty)
    }

    @Test func anEmptiedReadyListCanBeFilledAgain() {
        var list = ReadyList()
        list.append(.passUnretained(operations[0]))
        _ = list.popFirst()
        list.append(.passUnretained(operations[1]))
        list.append(.passUnretained(operations[2]))
        #expect(list.popFirst()?.takeUnretainedValue() === operations[1])
        list.append(.passUnretained(operations[3]))
        #expect(drain(&list) == ["2", "3"])
    }

    @Test func anOperationKeepsNoLinkToAFormerNeighbour() {
        var list = ReadyList()
        list.append(.passUnretained(operations[0]))
        list.append(.passUnretained(operations[1]))
        _ = list.popFirst()
        var other = ReadyList()
        other.append(.passUnretained(operations[0]))
        #expect(drain(&other) == ["0"])
    }

    @Test(arguments: [1, 1_000, 5_000]) func aFifoKeepsTheOrder(count: Int) {
        var fifo = Fifo<Int>()
        for number in 0..<count { fifo.append(number) }
        for number in 0..<count { #expect(fifo.popFirst() == number) }
        #expect(fifo.isEmpty)
        #expect(fifo.popFirst() == nil)
        fifo.append(7)
        #expect(fifo.popFirst() == 7)
    }

    /// It gives its front back while it is in use, in steps of 1,024.
    @Test func aFifoThatNeverEmptiesKeepsTheOrder() {
        var fifo = Fifo<Int>()
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

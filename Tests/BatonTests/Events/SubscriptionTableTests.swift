import Testing

@testable import Baton

@Suite struct SubscriptionTableTests {
    private func list(_ ids: some Sequence<UInt64>) -> SubscriptionTable<String> {
        var list = SubscriptionTable<String>()
        for id in ids { list.append("\(id)", id) }
        return list
    }

    private func content(_ list: SubscriptionTable<String>) -> [String] {
        var (list, all) = (list, [String]())
        list.forEach { all.append($0) }
        return all
    }

    @Test func subscriptionsAreFoundByID() {
        var list = list(stride(from: 2, through: 20, by: 2))
        for id in 0...22 as ClosedRange<UInt64> {
            let found = list.with(id) { subscription in
                defer { subscription += "!" }
                return subscription
            }
            #expect(found == (id > 0 && id < 22 && id.isMultiple(of: 2) ? "\(id)" : nil))
        }
        #expect(content(list) == stride(from: 2, through: 20, by: 2).map { "\($0)!" })
    }

    /// The other subscriptions keep their order, whichever subscriptions are removed in whichever order.
    @Test func removalKeepsTheOrderOfTheOthers() {
        for first in 1...7 as ClosedRange<UInt64> {
            for step in 1...6 as ClosedRange<UInt64> {
                var list = list(1...7)
                var left = Array(1...7 as ClosedRange<UInt64>)
                var id = first
                while !left.isEmpty {
                    #expect(!list.isEmpty)
                    #expect(list.remove(id) == "\(id)")
                    #expect(list.remove(id) == nil)
                    #expect(list.with(id) { $0 } == nil)
                    left.removeAll { $0 == id }
                    #expect(content(list) == left.map { "\($0)" })
                    // The modulus 7 is prime, so the loop visits each ID once.
                    id = (id - 1 + step) % 7 + 1
                }
                #expect(list.isEmpty)
                list.append("8", 8)
                #expect(content(list) == ["8"])
            }
        }
    }

    @Test func removesSeveralAtOnce() {
        var list = list(1...6)
        _ = list.remove(2)
        #expect(list.removeAll { ["1", "4", "6"].contains($0) } == ["1", "4", "6"])
        #expect(content(list) == ["3", "5"])
        #expect(list.remove(5) == "5")
        #expect(content(list) == ["3"])
    }
}

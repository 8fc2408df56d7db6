import Testing

@testable import Baton

@Suite("An index finds the places of elements in a list from which elements are removed")
struct RemovalIndexTests {
    @Test("A key has a place for each time that it was appended")
    func places() {
        var index = RemovalIndex<String>()
        let list = ["a", "b", "a", "c"]
        let (first, stranger) = (index.places(of: "a", in: 4) { list[$0] }, index.places(of: "d", in: 4) { list[$0] })
        let last = index.places(of: "c", in: 4) { _ in nil }
        #expect(first.all == [0, 2])
        #expect(stranger.isEmpty)
        #expect(last.all == [3])
    }

    @Test("The next search indexes elements that were appended later, and skips holes")
    func appended() {
        var index = RemovalIndex<String>()
        _ = index.places(of: "a", in: 1) { _ in "a" }
        let places = index.places(of: "a", in: 3) { $0 == 1 ? nil : "a" }
        #expect(places.all == [0, 2])
    }

    @Test("The list is rebuilt when half of its places are holes")
    func holes() {
        var index = RemovalIndex<String>()
        let list = ["a", "b", "c", "d", "e"]
        _ = index.places(of: "a", in: 5) { list[$0] }
        let answers = ["a", "a", "b", "c"].map { index.remove($0) }
        #expect(answers == [false, false, false, true])
        let places = index.places(of: "d", in: 2) { ["d", "e"][$0] }
        #expect(places.all == [0])
    }
}

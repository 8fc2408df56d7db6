import Testing

@testable import Baton

@Suite struct SlabTests {
    @Test("A slab has a place for the ID of each element, and no place for the ID `none`")
    func places() {
        var slab = Slab<String>()
        #expect(!slab.hasPlace(.none))
        let id = slab.insert("a")
        #expect(slab.hasPlace(id))
        #expect(!slab.hasPlace(.none))
    }

    @Test("A freed place is reused")
    func reuse() {
        var slab = Slab<String>()
        let (first, second) = (slab.insert("a"), slab.insert("b"))
        slab.remove(first)
        #expect(!slab.isEmpty)
        let third = slab.insert("c")
        #expect(third == first)
        #expect(slab.all == ["c", "b"])
        slab.remove(second)
        slab.remove(first)
        #expect(slab.isEmpty)
    }

    @Test("An empty slab that had many elements releases its storage")
    func release() {
        var slab = Slab<Int>()
        let ids = (0...1024).map { slab.insert($0) }
        for id in ids { slab.remove(id) }
        #expect(slab.isEmpty)
        #expect(!ids.contains { slab.hasPlace($0) })
    }
}

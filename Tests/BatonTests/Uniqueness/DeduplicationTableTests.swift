import Testing

@testable import Baton

@Suite struct DeduplicationTableTests {
    private final class Owner {}

    private final class Name: Identity {
        let hash: Int
        init(hash: Int) { self.hash = hash }
        func equals(_ other: any Identity) -> Bool { self === other }
    }

    /// The table, with its answers in a few words.
    private final class Harness {
        var table = DeduplicationTable<Owner>()
        private let owners = ["a": Owner(), "b": Owner(), "c": Owner()]

        private func names(_ some: [Owner]) -> String {
            some.map { owner in owners.first { $0.value === owner }!.key }.joined()
        }

        func owners(at place: UInt64) -> String { names(table.owners(at: place)) }

        func insert(_ name: Name, for owner: String, ifNoneAfter last: UInt64) -> UInt64? {
            table.insert(name, for: owners[owner]!, ifNoneAfter: last)
        }

        func enter(_ owner: String, at place: UInt64, ignoring finished: String = "", replaces: Bool = false) -> String
        {
            let ignored = finished.map { owners["\($0)"]! }
            return switch table.enter(owners[owner]!, at: place, ignoring: ignored, replaces: replaces) {
            case .entered(let former): "entered behind \(names(former))"
            case .taken(let other): "taken by \(names([other]))"
            case .gone: "gone"
            }
        }

        func remove(_ owner: String, at place: UInt64) -> (any Identity)? { table.remove(owners[owner]!, at: place) }
    }

    private let rig = Harness()

    @Test func aNewOneIsRefusedIfAnotherOfItsHashHasComeInBetween() throws {
        let first = try #require(rig.insert(Name(hash: 1), for: "a", ifNoneAfter: 0))
        #expect(rig.insert(Name(hash: 1), for: "b", ifNoneAfter: 0) == nil)
        #expect(rig.insert(Name(hash: 2), for: "b", ifNoneAfter: 0) != nil, "Another hash does not matter.")
        let second = try #require(rig.insert(Name(hash: 1), for: "b", ifNoneAfter: first))
        #expect(second > first)
        #expect(rig.table.candidates(for: 1, after: 0).map(\.place) == [first, second])
        #expect(rig.table.candidates(for: 1, after: first).map(\.place) == [second])
        #expect(rig.table.candidates(for: 3, after: 0).isEmpty)
    }

    @Test func anOwnerKeepsOthersOutUnlessTheyReplaceIt() throws {
        let place = try #require(rig.insert(Name(hash: 1), for: "a", ifNoneAfter: 0))
        #expect(rig.enter("b", at: place) == "taken by a")
        #expect(rig.enter("b", at: place, replaces: true) == "entered behind a")
        #expect(rig.owners(at: place) == "ab")
        #expect(rig.enter("c", at: place) == "taken by b", "The newest.")
        #expect(rig.enter("c", at: place, ignoring: "b") == "taken by a")
        #expect(rig.enter("c", at: place, ignoring: "b", replaces: true) == "entered behind a")
        #expect(rig.owners(at: place) == "ac")
    }

    @Test("Owners that have finished are replaced")
    func thoseThatHaveFinishedAreTakenOver() throws {
        let place = try #require(rig.insert(Name(hash: 1), for: "a", ifNoneAfter: 0))
        #expect(rig.enter("b", at: place, ignoring: "a") == "entered behind ")
        #expect(rig.remove("a", at: place) == nil, "It has left before.")
        #expect(rig.owners(at: place) == "b")
    }

    @Test func theLastThatLeavesFreesTheIdentity() throws {
        let name = Name(hash: 1)
        let place = try #require(rig.insert(name, for: "a", ifNoneAfter: 0))
        _ = rig.enter("b", at: place, replaces: true)
        #expect(rig.remove("b", at: place) == nil)
        #expect(rig.owners(at: place) == "a")
        #expect(rig.remove("a", at: place) === name)
        #expect(rig.remove("a", at: place) == nil)
        #expect(rig.table.count == 0)
        #expect(rig.table.candidates(for: 1, after: 0).isEmpty)
        #expect(rig.enter("c", at: place) == "gone")
        let again = try #require(rig.insert(name, for: "c", ifNoneAfter: 0))
        #expect(again > place, "A place is never given again.")
    }
}

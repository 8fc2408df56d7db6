import Testing

@testable import Baton

@Suite struct ExclusionTests {
    private struct Printer {}

    @Test func aTypeIsNotTheTextThatReadsTheSame() {
        let (type, text) = (Exclusion.mutuallyExclusive(Printer.self), Exclusion.mutuallyExclusive("Printer"))
        #expect(type.name != text.name)
        #expect(type == .mutuallyExclusive(Printer.self))
        #expect(type.name != Exclusion.mutuallyExclusive(ExclusionTests.self).name)
        #expect(Set([type, text, type]).count == 2)
    }

    @Test(arguments: [
        (Exclusion.mutuallyExclusive("disk"), "exclusive ‘disk’"),
        (.mutuallyExclusive("disk", mode: .shared), "shared ‘disk’"),
        (.mutuallyExclusive(Printer.self, mode: .shared), "shared Printer"),
        (.limited("disk", to: 3, weight: 2), "2 of 3 of ‘disk’"),
        (.limited("disk", to: 3), "1 of 3 of ‘disk’"),
    ]) func isShownByItsName(_ exclusion: Exclusion, _ text: String) {
        #expect("\(exclusion)" == text)
    }

    @Test(
        arguments: [
            (Exclusion.limited("disk", to: 0), "the limit of ‘disk’ is 0, and must be at least 1"),
            (.limited("disk", to: 3, weight: 0), "the weight in ‘disk’ is 0, and must be at least 1"),
            (.limited("disk", to: 3, weight: 4), "the weight in ‘disk’ is 4, more than the limit of 3"),
            (.limited("disk", to: 3, weight: 3), nil),
            (.mutuallyExclusive("disk"), nil),
        ] as [(Exclusion, String?)]) func tellsWhyItCanNeverBeGranted(_ exclusion: Exclusion, _ problem: String?)
    {
        #expect(exclusion.problem == problem)
        #expect(ExclusionSet([exclusion]).problem == problem)
    }

    @Test(arguments: [
        (Share.all, Share.shared, Share.all),
        (.all, .units(2, of: 3), .all),
        (.units(2, of: 3), .shared, .units(2, of: 3)),
        (.shared, .shared, .shared),
        (.units(2, of: 3), .units(1, of: 3), .units(2, of: 3)),
        (.units(2, of: 5), .units(3, of: 4), .units(3, of: 4)),
    ]) func theGreaterShareCounts(_ one: Share, _ other: Share, _ merged: Share) {
        #expect(one.merged(with: other) == merged)
        #expect(other.merged(with: one) == merged)
    }

    @Test func aSetHasEachNameOnceInTheOrderOfFirstMention() {
        var set = ExclusionSet([.mutuallyExclusive("b", mode: .shared), .limited("a", to: 3)])
        #expect(!set.isEmpty)
        var more = ExclusionSet()
        #expect(more.isEmpty)
        more.insert(.limited("c", to: 1))
        more.insert(.mutuallyExclusive("b"))
        set.formUnion(more)
        #expect(set.map { "\($0.name)" } == ["‘b’", "‘a’", "‘c’"])
        #expect(set.map(\.share) == [.all, .units(1, of: 3), .units(1, of: 1)])
    }

    @Test func soHasASetOfVeryMany() {
        let names = (0..<veryMany).map { "name \($0)" }
        var set = ExclusionSet(names.map { .mutuallyExclusive($0, mode: .shared) })
        set.formUnion(ExclusionSet(names.reversed().map { .limited($0, to: 1) }))
        #expect(set.count == veryMany)
        #expect(zip(set, names).allSatisfy { $0.name == .text($1) && $0.share == .units(1, of: 1) })
    }

    @Test func twoThatCanBeGrantedMayMakeOneThatCannot() {
        let set = ExclusionSet([.limited("disk", to: 3, weight: 3), .limited("disk", to: 2)])
        #expect(set.problem == "the weight in ‘disk’ is 3, more than the limit of 2")
    }
}

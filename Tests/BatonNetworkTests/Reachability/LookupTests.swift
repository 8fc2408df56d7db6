import BatonTesting
import Testing

@testable import BatonNetwork

@Suite(.timeLimit(.minutes(10))) struct LookupTests {
    let host = "\(UInt64.random(in: .min ... .max)).example"
    let log = EventLog<String>()

    private func lookup(_ name: String) -> Lookup {
        let lookup = Lookup(of: host)
        lookup.begin { [log] in log(name) }
        return lookup
    }

    @Test func lookupsOfOneHostRunBesideOneAnother() {
        let lookups = ["a", "b", "c"].map { lookup($0) }
        #expect(log.events == ["a", "b", "c"])
        for lookup in lookups { lookup.end() }
    }

    @Test func whileOneIsAbandonedNoOtherBegins() {
        let first = lookup("first")
        first.abandon()
        let next = ["second", "third"].map { lookup($0) }
        #expect(log.events == ["first"])
        first.end()
        #expect(log.events.sorted() == ["first", "second", "third"])
        for lookup in next { lookup.end() }
        lookup("last").end()
        #expect(log.events.last == "last")
    }

    @Test func allThatAreAbandonedAreWaitedFor() {
        let abandoned = ["a", "b"].map { lookup($0) }
        for lookup in abandoned { lookup.abandon() }
        let next = lookup("next")
        abandoned[0].end()
        #expect(log.events == ["a", "b"])
        abandoned[1].end()
        #expect(log.events == ["a", "b", "next"])
        next.end()
    }

    @Test("A lookup that is abandoned before it begins never begins")
    func oneThatIsLeftBeforeItBeginsNeverDoes() {
        let first = lookup("first")
        first.abandon()
        let second = lookup("second")
        second.abandon()
        first.end()
        #expect(log.events == ["first"])
        lookup("third").end()
        #expect(log.events == ["first", "third"])
    }

    @Test("A lookup that is abandoned after its end delays no other")
    func oneThatIsLeftAfterItsEndKeepsNobody() {
        let first = lookup("first")
        first.end()
        first.abandon()
        lookup("second").end()
        #expect(log.events == ["first", "second"])
    }

    @Test func anotherHostIsNotKept() {
        let first = lookup("first")
        first.abandon()
        let other = Lookup(of: "other.\(host)")
        other.begin { [log] in log("other") }
        #expect(log.events == ["first", "other"])
        other.end()
        first.end()
    }
}

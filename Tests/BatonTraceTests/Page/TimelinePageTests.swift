import Foundation
import Testing

@testable import Baton
@testable import BatonTrace

@Suite(.timeLimit(.minutes(10))) struct TimelinePageTests {
    /// Returns the data that the script of the page reads.
    private func data(_ page: String) throws -> [String: Any] {
        let begin = try #require(page.range(of: "<script id=\"data\" type=\"application/json\">"))
        let end = try #require(page.range(of: "</script>", range: begin.upperBound..<page.endIndex))
        let object = try JSONSerialization.jsonObject(with: Data(page[begin.upperBound..<end.lowerBound].utf8))
        return try #require(object as? [String: Any])
    }

    @Test(arguments: hostileNames) func aNameBreaksNothing(_ name: String) throws {
        var sketch = Sketch()
        sketch.add(name, 0, ready: 0, start: 0, end: 5, outcome: .failure)
        sketch.trace.operations[0].error = name
        sketch.trace.queueName = name
        let page = sketch.trace.timeline()
        let data = try data(page)
        let rows = try #require(data["operations"] as? [[Any]])
        #expect(rows.count == 1 && rows[0][1] as? String == name.singleLine)
        #expect(data["queue"] as? String == name.singleLine && data["texts"] as? [String] == [name.cleanLines])
        #expect(page.components(separatedBy: "<script").count == 3)
        #expect(page.components(separatedBy: "</script>").count == 3)
    }

    @Test func nothingIsLoadedFromAnywhere() {
        let page = Trace(of: []).timeline()
        #expect(
            !page.contains("http:") && !page.contains("https:") && !page.contains(" src=") && !page.contains("@import"))
        #expect(page.contains("default-src 'none'"))
        #expect(!page.contains("\\\n"))
    }

    @Test func aRowSaysWhatHappened() throws {
        var sketch = Sketch()
        let a = sketch.add("a 1", 2, ready: 2, start: 3, end: 5)
        let b = sketch.add("b 1", 2, after: [a], ready: 5, start: 5, outcome: nil)
        sketch.add("b 2", 3, start: 4, end: 4, in: b)
        sketch.trace.end = .milliseconds(12)
        let data = try data(sketch.trace.timeline())
        #expect(data["stages"] as? [String] == ["a 1", "b"])
        #expect(data["end"] as? Double == 10_000)
        let rows = try #require(data["operations"] as? [[Any]])
        #expect(rows[0][4] as? Int == 0 && rows[0][5] as? Int == 3000)
        #expect(rows[0][6] as? [Int] == [3, 0, 1000, -1])
        #expect(rows[0][7] as? [Int] == [0, 1000, 3000, -1])
        #expect(rows[1][5] is NSNull && rows[1][7] as? [Int] == [0, 3000, 10_000, -1])
        #expect(rows[1][8] as? [Int] == [0])
        #expect(rows[2][9] as? Int == 1)
        #expect(rows.map { $0[12] as? Int } == [1, 1, 0])
    }

    @Test("A wait has its reason and its name, and the page knows when the queue was suspended")
    func waitsAreNamed() throws {
        var sketch = Sketch()
        sketch.add("a", 0, ready: 0, start: 9, end: 10)
        sketch.trace.operations[0].attempts[0].obstacles = [
            .init(reason: .rate, name: "‘api’", start: .zero, end: .milliseconds(5))
        ]
        sketch.trace.operations[0].suspensions = [.init(start: .milliseconds(5), end: .milliseconds(9))]
        sketch.trace.suspensions = [
            .init(start: .milliseconds(5), end: .milliseconds(9)), .init(start: .milliseconds(10)),
        ]
        let page = sketch.trace.timeline()
        let data = try data(page)
        let rows = try #require(data["operations"] as? [[Any]])
        let places = Dictionary(uniqueKeysWithValues: TracedWait.Reason.allCases.enumerated().map { ($1, $0) })
        #expect(rows[0][6] as? [Int] == [places[.rate] ?? -1, 0, 5000, 0, places[.suspension] ?? -1, 5000, 9000, -1])
        #expect(data["texts"] as? [String] == ["‘api’"])
        #expect(data["suspensions"] as? [[Int]] == [[5000, 9000], [10_000, 10_000]])
        // The script identifies reasons by their indices.
        let names = TracedWait.Reason.allCases.map { "'\($0)'" }.joined(separator: ", ")
        #expect(page.contains("const reasons = [\(names)];"))
        for reason in TracedWait.Reason.allCases { #expect(page.components(separatedBy: "--\(reason): #").count == 4) }
    }

    @Test func anUnknownAddIsShownAtTheFirstMoment() throws {
        var sketch = Sketch()
        sketch.add("unheard of", 2)
        sketch.add("run", 2, start: 3, end: 5)
        sketch.trace.operations[0].added = nil
        let rows = try #require(data(sketch.trace.timeline())["operations"] as? [[Any]])
        #expect(rows.map { $0[4] as? Int } == [0, 0])
    }

    @Test func longNamesAndManyErrorsAreCut() throws {
        var sketch = Sketch()
        sketch.add(String(repeating: "n", count: 5000), 0)
        for place in 0..<4 {
            sketch.add("\(place)", 0)
            sketch.trace.operations[place + 1].error = "\(place)" + String(repeating: "e", count: 2_000_000)
        }
        let data = try data(sketch.trace.timeline())
        let texts = try #require(data["texts"] as? [String])
        #expect(texts.map(\.count) == [2_000_001, 2_000_001, 1])
        let rows = try #require(data["operations"] as? [[Any]])
        #expect((rows[0][1] as? String)?.count == 121)
        #expect(rows[4][10] as? Int == 2 && rows[3][10] as? Int == 2)
    }

    @Test func aHundredThousandOperationsAreLessThanThirtyMegabytes() {
        #expect(Trace.pageOfHundredThousand.count < 30_000_000)
    }
}

import Foundation
import Testing

@testable import Baton
@testable import BatonTrace

/// Checks traces against the rules of the Trace Event Format.
@Suite(.timeLimit(.minutes(10))) struct ChromeTraceTests {
    struct Event: Decodable {
        struct Arguments: Decodable {
            var id: UInt64?
            var attempt: Int?
            var error: String?
            var name: String?
            var waits: [Wait]?
        }

        struct Wait: Decodable, Equatable {
            let `for`: String
            let us: Double
            var name: String?
        }

        let ph: String
        let name: String
        let pid: Int
        let tid: Int
        let ts: Double
        var dur: Double?
        var id: Int?
        var bp: String?
        var s: String?
        var args: Arguments?
    }

    struct File: Decodable {
        let traceEvents: [Event]
    }

    private func events(_ trace: Trace) throws -> [Event] {
        try JSONDecoder().decode(File.self, from: Data(trace.chromeTrace().utf8)).traceEvents
    }

    @Test("A wait for an exclusion or a rate has its name")
    func waitsAreNamed() throws {
        var sketch = Sketch()
        sketch.add("a", 0, ready: 0, start: 9, end: 10)
        sketch.trace.operations[0].attempts[0].obstacles = [
            .init(reason: .exclusion, name: "‘db’", start: .milliseconds(1), end: .milliseconds(4))
        ]
        sketch.trace.operations[0].suspensions = [.init(start: .milliseconds(5), end: .milliseconds(9))]
        let waits = try events(sketch.trace).first { $0.ph == "X" }?.args?.waits ?? []
        #expect(
            waits == [
                .init(for: "queue", us: 1000), .init(for: "exclusion", us: 3000, name: "‘db’"),
                .init(for: "queue", us: 1000), .init(for: "suspension", us: 4000),
            ])
    }

    /// Two operations run at a time, and each depends on the one two places before. One fails once, one never ran, and
    /// one is still running.
    private var sketch: Sketch {
        var sketch = Sketch()
        for place in 0..<20 {
            let source = place < 2 ? [] : [UInt64(place - 1)]
            sketch.add("op \(place)", 0, after: source, ready: place * 5, start: place * 5, end: place * 5 + 10)
        }
        sketch.trace.operations[0].attempts = [
            .init(number: 1, ready: .zero, start: .zero, end: .milliseconds(2), error: "oops", pause: .zero),
            .init(
                number: 2, ready: .milliseconds(2), start: .nanoseconds(2_000_001), end: .milliseconds(10), error: nil,
                pause: nil),
        ]
        sketch.add("skipped", 3, end: 4, outcome: .skipped)
        sketch.add("on", 3, after: [20], ready: 105, start: 105, outcome: nil)
        return sketch
    }

    @Test func everyEventHasWhatItsKindNeeds() throws {
        let all = try events(sketch.trace)
        for event in all {
            #expect(["X", "B", "M", "i", "s", "f"].contains(event.ph))
            #expect(event.ts >= 0 && event.pid == 1)
            #expect((event.dur != nil) == (event.ph == "X"))
            #expect((event.id != nil) == (event.ph == "s" || event.ph == "f"))
            #expect((event.s != nil) == (event.ph == "i"))
            if event.ph == "f" { #expect(event.bp == "e") }
        }
        #expect(all.filter { $0.ph == "X" }.count == 21)
        #expect(all.filter { $0.ph == "B" }.map(\.name) == ["on"])
        #expect(all.filter { $0.ph == "i" }.map(\.name) == ["skipped"])
        #expect(all.contains { $0.ph == "M" && $0.name == "process_name" && $0.args?.name == "q" })
        #expect(all.filter { $0.ph == "X" && $0.args?.error == "oops" }.map(\.name) == ["op 0"])
        #expect(all.first { $0.name == "op 0" && $0.args?.attempt == 2 }?.ts == 2000.001)
    }

    @Test func noLaneHasTwoSlicesAtATime() throws {
        let slices = try events(sketch.trace).filter { $0.ph == "X" || $0.ph == "B" }
        for (_, lane) in Dictionary(grouping: slices, by: \.tid) {
            let lane = lane.sorted { $0.ts < $1.ts }
            for (one, next) in zip(lane, lane.dropFirst()) { #expect(one.ts + (one.dur ?? .infinity) <= next.ts) }
        }
        #expect(Set(slices.map(\.tid)) == [1, 2])
    }

    @Test func everyArrowGoesFromSliceToSlice() throws {
        let all = try events(sketch.trace)
        let slices = all.filter { $0.ph == "X" || $0.ph == "B" }
        let starts = all.filter { $0.ph == "s" }
        #expect(starts.count == 19)
        for start in starts {
            let ends = all.filter { $0.ph == "f" && $0.id == start.id }
            #expect(ends.count == 1 && ends[0].ts >= start.ts)
            for arrow in ends + [start] {
                #expect(
                    slices.contains {
                        $0.tid == arrow.tid && $0.ts <= arrow.ts && arrow.ts < $0.ts + ($0.dur ?? .infinity)
                    })
            }
        }
    }

    @Test func waitsAreArgumentsOfTheFirstRun() throws {
        let waits = try events(sketch.trace).filter { $0.name == "op 5" }.first?.args?.waits
        #expect(waits == [Event.Wait(for: "dependencies", us: 25_000)])
    }

    @Test func anEmptyTraceIsValid() throws {
        #expect(try events(Trace(of: [])).map(\.ph) == ["M"])
    }

    @Test(arguments: hostileNames) func anyNameIsReadAsItWas(_ name: String) throws {
        var sketch = Sketch()
        sketch.add(name, 0, ready: 0, start: 0, end: 1)
        sketch.trace.operations[0].error = name
        let event = try #require(try events(sketch.trace).first { $0.ph == "X" })
        #expect(event.name == name && event.args?.error == name)
        #expect(!sketch.trace.chromeTrace().contains("<"))
    }

    @Test(arguments: [(0, "0"), (1, "0.001"), (999, "0.999"), (1000, "1"), (1050, "1.050"), (-1500, "-1.500")])
    func timesAreExactToTheNanosecond(nanoseconds: Int64, text: String) {
        var json = JSONText()
        json.microseconds(nanoseconds)
        #expect(String(decoding: json.bytes, as: UTF8.self) == text)
    }
}

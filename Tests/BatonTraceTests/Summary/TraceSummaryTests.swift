import Testing

@testable import Baton
@testable import BatonTrace

@Suite(.timeLimit(.minutes(10))) struct TraceSummaryTests {
    @Test(arguments: [
        ("page 12", "page"), ("page-3", "page"), ("page", "page"), ("12", "12"), ("", ""), ("part_1/20", "part"),
        ("a1b", "a1b"), ("شيء 7", "شيء"), ("row (3)", "row"), ("half ½", "half ½"), ("done!", "done!"),
        ("décryptage ٣", "décryptage"), ("a1b2", "a1b"), ("m²", "m²"), ("  ", "  "),
        ("resize (large)", "resize (large)"), ("__proto__", "__proto__"), ("n1[\"x\"]", "n1[\"x\"]"), ("a.b.", "a.b."),
        ("resize (large) 3", "resize (large)"), ("row [3] (4)", "row"), ("x)", "x)"), ("f()", "f()"), ("3)", "3)"),
        ("a (b3)", "a (b3)"), ("tag #", "tag #"), ("v1.2.3", "v"), ("(3)", "(3)"),
    ]) func aStageIsTheNameWithoutItsNumber(name: String, stage: String) {
        #expect(Trace.stageName(of: .sketched(1, name)) == stage)
    }

    @Test(arguments: [
        (Int64(0), "0 ns"), (7, "7 ns"), (999, "999 ns"), (1000, "1.00 µs"), (42_000, "42.0 µs"),
        (310_000_000, "310 ms"),
        (1_250_000_000, "1.25 s"), (1_050_000_000, "1.05 s"), (90_500_000_000, "90.5 s"), (3_600_000_000_000, "3600 s"),
        (-1000, "-1.00 µs"), (1_078_000_000, "1.08 s"), (12_349_999, "12.3 ms"), (999_600_000, "1.00 s"),
    ]) func aDurationIsShort(nanoseconds: Int64, text: String) {
        #expect(Duration.nanoseconds(nanoseconds).inShort == text)
    }

    private var sketch: Sketch {
        var sketch = Sketch()
        let loads = (1...3).map { sketch.add("load \($0)", 0, ready: 0, start: ($0 - 1) * 100, end: $0 * 100) }
        sketch.add("save", 0, after: loads, ready: 300, start: 300, end: 400, outcome: .failure)
        return sketch
    }

    @Test func figuresAreThoseOfAllOperations() {
        let summary = sketch.trace.summary()
        #expect(summary.operationCount == 4 && summary.unfinishedCount == 0)
        #expect(summary.outcomes == [.success: 3, .failure: 1])
        #expect(summary.duration == .milliseconds(400) && summary.runningTime == .milliseconds(400))
        #expect(summary.parallelism == 1)
        #expect(Set(summary.waits.map(\.reason)) == [.dependencies, .queue])
        #expect(summary.waits.map(\.time) == [.milliseconds(300), .milliseconds(300)])
        #expect(summary.waits.map(\.count).sorted() == [1, 2])
    }

    @Test func theLargestPartOfThePathComesFirst() {
        let levers = sketch.trace.summary().levers
        #expect(levers.map(\.stage) == ["load", "save"])
        #expect(levers.map(\.share) == [0.75, 0.25])
        #expect(levers.map(\.operationCount) == [3, 1])
        #expect(levers.allSatisfy { $0.activity == .running })
    }

    @Test(
        "A duration that is rounded up may change its decimals or its unit",
        arguments: [
            (7, "7 ns"), (999, "999 ns"), (1000, "1.00 µs"), (9_994, "9.99 µs"), (9_995, "10.0 µs"),
            (99_949, "99.9 µs"), (99_960, "100 µs"), (999_499, "999 µs"), (999_500, "1.00 ms"),
            (9_999_999, "10.0 ms"), (999_999_999, "1.00 s"), (1_250_000_000, "1.25 s"), (999_500_000_000, "1000 s"),
            (-999_500, "-1.00 ms"),
        ])
    func roundedDurations(nanoseconds: Int, text: String) {
        #expect(Duration.nanoseconds(nanoseconds).inShort == text)
    }

    @Test("A stage with one operation has the name of that operation")
    func stagesOfOneOperation() {
        var sketch = Sketch()
        let first = sketch.add("c1", 0, ready: 0, start: 0, end: 5)
        let second = sketch.add("load 1", 0, after: [first], ready: 5, start: 5, end: 9)
        // This operation is not on the path, but belongs to the stage of the previous one.
        sketch.add("load 2", 0, ready: 0, start: 0, end: 1)
        sketch.add("save 7", 0, after: [second], ready: 9, start: 9, end: 10)
        #expect(sketch.trace.summary().levers.map(\.stage) == ["c1", "load", "save 7"])
        #expect(sketch.trace.summary(stage: Trace.stageName).levers.map(\.stage) == ["c", "load", "save"])
        let page = sketch.trace.timeline()
        #expect(page.contains("\"stages\":[\"c1\",\"load\",\"save 7\"]"), "\(page.suffix(20_000).prefix(3_000))")
        #expect(sketch.trace.timeline(stage: Trace.stageName).contains("\"stages\":[\"c\",\"load\",\"save\"]"))
    }

    @Test func stagesCanBeNamedByTheCaller() {
        #expect(sketch.trace.summary { _ in "all" }.levers.map(\.stage) == ["all"])
    }

    @Test func theTextSaysWhatToDo() {
        let text = sketch.trace.summary().description
        let lines = text.split(separator: "\n")
        #expect(lines.first == "4 operations in 400 ms: 3 succeeded, 1 failed.")
        #expect(
            text.contains(
                "Bodies ran for 400 ms, 1.00 at a time, including what they waited for other operations."))
        #expect(text.contains("300 ms for the queue") && text.contains("300 ms for dependencies"))
        #expect(text.contains("Critical path, 400 ms: load 1 → load 2 → load 3 → save"))
        #expect(text.contains("  1. ‘load’ running: 300 ms, 75 % of the path, 3 operations"))
    }

    @Test("The text says how many operations failed without having run, and a path describes itself")
    func dependentsThatDidNotRun() {
        var sketch = Sketch()
        let load = sketch.add("load", 0, ready: 0, start: 0, end: 100, outcome: .failure)
        sketch.add("save", 0, after: [load], end: 100, outcome: .failure)
        let summary = sketch.trace.summary()
        #expect(summary.failedBeforeRunCount == 1)
        #expect("\(summary)".hasPrefix("2 operations in 100 ms: 2 failed (1 of them without having run).\n"))
        #expect("\(summary.criticalPath)" == "100 ms: load")
        #expect("\(Sketch().trace.criticalPath())" == "no operations")
    }

    @Test("The text names the exclusions and rates that operations waited for")
    func namesAreTold() {
        var sketch = Sketch()
        for place in 0..<6 { sketch.add("a", 0, ready: 0, start: 100, end: 110 + place) }
        for place in 0..<6 {
            let name = place == 5 ? nil : place < 2 ? "‘db’" : "‘api \(place)’"
            sketch.trace.operations[place].attempts[0].obstacles = [
                .init(
                    reason: place < 2 ? .exclusion : .rate, name: name, start: .zero,
                    end: .milliseconds((place < 2 ? 30 : 40) + place))
            ]
        }
        let summary = sketch.trace.summary()
        #expect(summary.namedWaits.map(\.name) == ["‘db’", "‘api 4’", "‘api 3’", "‘api 2’"])
        #expect(summary.namedWaits.first.map { "\($0.reason) \($0.time) \($0.count)" } == "exclusion 0.061 seconds 2")
        #expect(
            summary.waits.map(\.reason) == [.queue, .rate, .exclusion] && summary.waits.allSatisfy { $0.name == nil })
        #expect(
            summary.description.contains(
                "Total waiting time: 365 ms for the queue, 174 ms for rates, 61.0 ms for exclusions.\n"
                    + "Exclusions and rates: 61.0 ms for the exclusion ‘db’, 44.0 ms for the rate ‘api 4’, "
                    + "43.0 ms for the rate ‘api 3’, and 1 other.\n"), "\(summary)")
        #expect(!self.sketch.trace.summary().description.contains("Exclusions and rates"))
    }

    @Test("Equally long waits are listed by name, and then by reason")
    func equallyLongWaits() {
        var sketch = Sketch()
        let names = (0..<8).map { "‘\($0)’" }
        for name in names {
            sketch.add("a", 0, ready: 0, start: 20, end: 30)
            sketch.trace.operations[sketch.trace.operations.count - 1].attempts[0].obstacles = [
                .init(reason: .rate, name: name, start: .zero, end: .milliseconds(10)),
                .init(reason: .exclusion, name: name, start: .milliseconds(10), end: .milliseconds(20)),
            ]
        }
        let waits = sketch.trace.summary().namedWaits
        #expect(waits.map(\.name) == names.flatMap { [$0, $0] })
        #expect(waits.map(\.reason) == names.flatMap { _ in [.exclusion, .rate] })
    }

    @Test("Equally long parts of one stage are listed by activity, the runs first")
    func equallyLongParts() {
        var sketch = Sketch()
        sketch.add("a", 0, evaluating: 20, ready: 30, start: 60, outcome: nil)
        sketch.trace.operations[0].hasWaited = true
        sketch.trace.operations[0].dependenciesMet = .milliseconds(10)
        sketch.trace.operations[0].delayed = .milliseconds(10)
        sketch.trace.operations[0].attempts[0].obstacles = [
            .init(reason: .exclusion, name: nil, start: .milliseconds(40), end: .milliseconds(50)),
            .init(reason: .rate, name: nil, start: .milliseconds(50), end: .milliseconds(60)),
        ]
        sketch.trace.operations[0].attempts[0].end = .milliseconds(70)
        sketch.trace.operations[0].attempts.append(.init(number: 2, ready: .milliseconds(80), start: nil, end: nil))
        sketch.trace.end = .milliseconds(80)
        let levers = sketch.trace.summary().levers
        #expect(levers.allSatisfy { $0.time == .milliseconds(10) })
        let waits: [TracedWait.Reason] = [.conditions, .delay, .dependencies, .exclusion, .pause, .queue, .rate]
        #expect(levers.map(\.activity) == [.running] + waits.map { .waiting($0) })
    }

    @Test func aPathThatBeginsLateSaysSo() {
        var sketch = Sketch()
        sketch.add("a", 0, ready: 0, start: 0, end: 10)
        sketch.add("b", 80, ready: 80, start: 80, end: 100)
        let summary = sketch.trace.summary()
        #expect(summary.leadTime == .milliseconds(80) && summary.criticalPath.duration == .milliseconds(20))
        #expect(
            summary.description.contains("It begins 80.0 ms after the first event: add its first operation sooner."))
        #expect(self.sketch.trace.summary().leadTime == .zero)
        #expect(!self.sketch.trace.summary().description.contains("It begins"))
    }

    @Test func negligiblePartsAreLeftOut() {
        var sketch = Sketch()
        sketch.add("a", 0, ready: 0, start: 1, end: 9000)
        sketch.add("b", 0, after: [1], ready: 9000, start: 9002, end: 9010)
        let summary = sketch.trace.summary()
        #expect(summary.waits.map(\.reason) == [.dependencies, .queue] && summary.levers.count == 4)
        #expect(!summary.description.contains("for the queue") && !summary.description.contains("2. "))
    }

    @Test func anEmptyTraceHasAText() {
        #expect(Trace(of: []).summary().description == "No operations.")
    }

    @Test func unfinishedOperationsAreMentioned() {
        var sketch = Sketch()
        sketch.add("a", 0, ready: 0, start: 0, outcome: nil)
        sketch.trace.end = .seconds(2)
        #expect(sketch.trace.summary().description.hasPrefix("1 operation in 2.00 s: 1 unfinished."))
    }

    @Test func aNameIsNoLineBreak() {
        var sketch = Sketch()
        sketch.add("a\nb\r\nc", 0, ready: 0, start: 0, end: 1)
        #expect(sketch.trace.summary().description.contains("a b c"))
        #expect(!sketch.trace.summary().description.contains("a\nb"))
    }
}

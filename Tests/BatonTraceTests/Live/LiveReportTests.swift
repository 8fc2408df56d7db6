import Testing

@testable import BatonTrace

@Suite struct LiveReportTests {
    @Test("Each change is reported once")
    func changes() {
        var report = LiveReport()
        #expect(report.lines(LiveSnapshot()).isEmpty)
        let begun = LiveSnapshot(showing: [stage("load", running: 2), stage("save", waiting: 1)].waiting(from: 1))
        #expect(report.lines(begun) == ["load: begins"])
        #expect(report.lines(begun).isEmpty)
        let failed = LiveSnapshot(showing: [stage("load", failed: 1, running: 1)], of: "no")
        #expect(report.lines(failed) == ["load 1 failed: no"])
        let over = LiveSnapshot(showing: [stage("load", done: 1, failed: 1)])
        #expect(report.lines(over) == ["load: 1 done, 1 failed in 3.0 s"])
        #expect(report.lines(over).isEmpty)
        #expect(report.summary(over) == ["2 operations: 1 done, 1 failed in 3.0 s"])
    }

    @Test("Every root failure has a line, and failures that follow from others are counted")
    func failuresAndDependents() {
        var report = LiveReport()
        var snapshot = LiveSnapshot(showing: [stage("s", failed: 50, running: 1)], of: "a", "b", "c", "d", "e")
        snapshot.newDependencyFailures = 45
        #expect(
            report.lines(snapshot) == [
                "s: begins", "s 1 failed: a", "s 2 failed: b", "s 3 failed: c", "s 4 failed: d", "s 5 failed: e",
                "45 operations failed because what they needed had failed",
            ])
        var rest = LiveSnapshot(showing: [stage("s", failed: 51, running: 1)])
        rest.newDependencyFailures = 1
        #expect(report.lines(rest) == ["1 operation failed because what it needed had failed"])
        rest.newDependencyFailures = 0
        #expect(report.lines(rest).isEmpty)
    }

    @Test("A suspension is reported when it begins and when it ends")
    func suspensions() {
        var report = LiveReport()
        var snapshot = LiveSnapshot(showing: [stage("s", running: 1)])
        snapshot.isSuspended = true
        #expect(report.lines(snapshot) == ["the queue is suspended", "s: begins"])
        #expect(report.lines(snapshot).isEmpty)
        snapshot.isSuspended = false
        #expect(report.lines(snapshot) == ["the queue is resumed"])
    }

    @Test("A stage that ends repeatedly is reported when its operations have doubled")
    func endsThatRepeat() {
        var report = LiveReport()
        let reported = (1...100).filter { !report.lines(LiveSnapshot(showing: [stage("s", done: $0)])).isEmpty }
        #expect(reported == [1, 2, 4, 8, 16, 32, 64])
        #expect(report.summary(LiveSnapshot(showing: [stage("s", done: 100)])).count == 2)
    }

    @Test("A summary lists the stages that have not finished")
    func summaryOfUnfinishedStages() {
        var report = LiveReport()
        let snapshot = LiveSnapshot(
            showing: [stage("a", done: 1, running: 2), stage("b", waiting: 3)].waiting(from: 1))
        #expect(
            report.summary(snapshot) == [
                "a: begins", "a: 1 done, 2 running in 3.0 s", "b: 3 waiting",
                "6 operations: 1 done, 2 running, 3 waiting in 3.0 s",
            ])
        #expect(LiveReport.total(LiveSnapshot()) == "0 operations")
    }

    @Test("A summary of a thousand stages is short")
    func longSummary() {
        var report = LiveReport()
        let stages = (0..<1000).map { stage("s\($0)", waiting: 1) }.waiting(from: 0)
        let lines = report.summary(LiveSnapshot(showing: stages))
        #expect(lines.count == 22)
        #expect(lines.dropLast().last == "… and 980 more stages")
        var plain = LiveReport(hasUnicode: false)
        #expect(plain.summary(LiveSnapshot(showing: stages)).dropLast().last == "~ and 980 more stages")
    }

    @Test("A summary that leaves one stage out, and a report that leaves one failure out, use the singular")
    func singular() {
        var report = LiveReport()
        let stages = (0..<21).map { stage("s\($0)", waiting: 1) }.waiting(from: 0)
        #expect(report.summary(LiveSnapshot(showing: stages)).dropLast().last == "… and 1 more stage")
        var snapshot = LiveSnapshot()
        snapshot.unreportedFailures = 1
        #expect(report.lines(snapshot) == ["1 other failed"])
        snapshot.unreportedFailures = 2
        #expect(report.lines(snapshot) == ["2 others failed"])
    }

    @Test(arguments: [
        (0.04, "0.0 s"), (9.94, "9.9 s"), (9.97, "10 s"), (10.0, "10 s"), (59.0, "59 s"), (59.6, "1:00"),
        (61.0, "1:01"),
        (3600.0, "1:00:00"), (34_560_000.0, "400 days"), (-1.0, "0.0 s"),
    ])
    func durationsAreShort(seconds: Double, text: String) {
        #expect(LiveFormatter.duration(.seconds(seconds)) == text)
    }

    @Test(arguments: [(1234.4, "1234/s"), (12.3, "12/s"), (4.24, "4.2/s"), (0.05, "3.0/min"), (9.96, "10/s")])
    func ratesAreShort(rate: Double, text: String) { #expect(LiveFormatter.rate(rate) == text) }
}

extension [LiveStage] {
    /// Returns the same stages, except that the stages from this index on have not begun.
    fileprivate func waiting(from first: Int) -> Self {
        enumerated().map { index, stage in
            if index < first { return stage }
            var other = LiveStage(name: stage.name)
            other.waiting = stage.waiting
            return other
        }
    }
}

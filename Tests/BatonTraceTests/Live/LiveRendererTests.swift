import Baton
import Testing

@testable import BatonTrace

@Suite struct LiveRendererTests {
    static let widths = [1, 2, 10, 40, 80, 200]

    @Test func wideTerminalShowsEverything() {
        let snapshot = LiveSnapshot(
            showing: [stage("download", done: 5, failed: 1, running: 2, waiting: 4)], of: "why not?")
        let lines = LiveRenderer(width: 80, height: 24).lines(snapshot)
        #expect(
            lines == [
                "download █████████xx▒▒▒░░░░░░░░ 6/12 2 running 4 waiting 1 failed 2.0/s 3 s left",
                "✗ download 1: why not?",
            ])
    }

    @Test("A suspended queue and obstacles are shown if there is room")
    func obstaclesAndSuspensions() {
        var model = LiveModel(keptFailures: 0)
        for id in 1...3 as ClosedRange<UInt64> {
            let operation = OperationReference(id: id, name: "load \(id)")
            _ = model.note(id < 3 ? .blocked(.exclusion("‘db’")) : .appeared, of: operation, in: "load", at: .zero)
        }
        var snapshot = model.takeSnapshot()
        snapshot.isSuspended = true
        let lines = LiveRenderer(width: 100, height: 24).lines(snapshot)
        #expect(lines.count == 2 && lines.last == "the queue is suspended")
        #expect(lines[0].contains(" 0/3 3 waiting (2 for the exclusion ‘db’) ? left"))
        #expect(LiveRenderer(width: 40, height: 24).lines(snapshot)[0].contains("3 waiting"))
        for height in 1...3 { #expect(LiveRenderer(width: 80, height: height).lines(snapshot).count <= height) }
        #expect(LiveRenderer(width: 10, height: 24).lines(snapshot).last == "the queue…")
    }

    /// The canvas leaves the last column free.
    @Test func terminalOfTenColumnsShowsNameAndCount() {
        let snapshot = LiveSnapshot(
            showing: [stage("download", done: 5, failed: 1, running: 2, waiting: 4)], of: "why not?")
        #expect(LiveRenderer(width: 9, height: 24).lines(snapshot) == ["dow… 6/12", "✗ downlo…"])
    }

    /// The canvas leaves the last column free.
    @Test func aNarrowTerminalOmitsTheRateAndSomeCounts() {
        let snapshot = LiveSnapshot(showing: [stage("download", done: 5, failed: 1, running: 2, waiting: 4)])
        #expect(LiveRenderer(width: 39, height: 24).lines(snapshot) == ["download ██x▒░░░ 6/12 1 failed 3 s left"])
    }

    @Test(
        arguments: widths,
        ["download", "日本語の段階", "👩‍👩‍👧👍🏽❤️🇩🇪", "e\u{301}a\u{300}", String(repeating: "long ", count: 40)])
    func noLineIsWiderThanTheTerminal(width: Int, name: String) {
        let stages = [stage(name, done: 99_999, failed: 3, running: 1000, waiting: 1_000_000), stage("b", done: 1)]
        let snapshot = LiveSnapshot(showing: stages, of: name)
        for (hasColour, hasUnicode, knowsTotals) in [(false, false, true), (true, true, true), (true, true, false)] {
            let renderer = LiveRenderer(
                width: width, height: 24, hasColour: hasColour, hasUnicode: hasUnicode, knowsTotals: knowsTotals)
            let lines = renderer.lines(snapshot)
            #expect(lines.count == 4)
            for line in lines { #expect(TerminalText.columns(LiveFrame.withoutColour(line)) <= width, "\(line)") }
        }
    }

    @Test func rowsOfATableAreEquallyWide() {
        let stages = [
            stage("日本語", done: 3, running: 1), stage("b", failed: 20, waiting: 100), stage("longer", done: 1),
        ]
        for width in 20...200 {
            let lines = LiveRenderer(width: width, height: 24, hasColour: true).lines(LiveSnapshot(showing: stages))
            #expect(Set(lines.map { TerminalText.columns(LiveFrame.withoutColour($0)) }).count == 1)
        }
    }

    @Test(arguments: widths) func nothingHasBeenAddedYet(width: Int) {
        let lines = LiveRenderer(width: width, height: 5).lines(LiveSnapshot())
        #expect(lines.count == 1)
        #expect(TerminalText.columns(lines[0]) <= width)
    }

    @Test func unknownTotalsShowNoBarAndNoTimeLeft() {
        let snapshot = LiveSnapshot(showing: [stage("crawl", done: 5, running: 2, waiting: 4)])
        let lines = LiveRenderer(width: 80, height: 24, knowsTotals: false).lines(snapshot)
        #expect(lines == ["crawl 5 2 running 4 waiting 1.7/s ? left"])
    }

    @Test func timeLeftIsUnknownUntilSomethingHasEnded() {
        let snapshot = LiveSnapshot(showing: [stage("crawl", running: 2)])
        #expect(LiveRenderer(width: 80, height: 24).lines(snapshot)[0].hasSuffix(" 0/2 2 running ? left"))
    }

    @Test func thousandStagesShowWhatFitsAndHowManyMore() {
        var stages = (0..<1000).map { stage("s\($0)", done: 1) }
        stages[700] = stage("s700", running: 1)
        stages[800] = stage("s800", failed: 1)
        for height in 1...40 {
            let lines = LiveRenderer(width: 80, height: height).lines(LiveSnapshot(showing: stages))
            #expect(lines.count == height)
            #expect(lines.last?.hasPrefix("all") == true)
        }
        let lines = LiveRenderer(width: 80, height: 6).lines(LiveSnapshot(showing: stages))
        #expect(lines.map { $0.prefix { $0 != " " } } == ["s0", "s1", "s700", "s800", "…", "all"])
        #expect(lines[4] == "… and 996 more stages")
    }

    @Test func aTerminalWithFewRowsShowsFewerFailures() {
        let snapshot = LiveSnapshot(showing: [stage("s", failed: 3)], of: "a", "b", "c")
        #expect(LiveRenderer(width: 80, height: 3).lines(snapshot).count == 1)
        #expect(LiveRenderer(width: 80, height: 8).lines(snapshot).dropFirst() == ["✗ s 2: b", "✗ s 3: c"])
    }

    @Test func finishedBarIsFull() {
        for width in [20, 33, 47, 80] {
            let line = LiveRenderer(width: width, height: 3).lines(LiveSnapshot(showing: [stage("s", done: 7)]))[0]
            #expect(!line.contains("░"), "\(line)")
        }
    }

    @Test func coloursDoNotChangeTheText() {
        let snapshot = LiveSnapshot(
            showing: [stage("download", done: 5, failed: 1, running: 2, waiting: 4)], of: "why not?")
        var renderer = LiveRenderer(width: 80, height: 24)
        let plain = renderer.lines(snapshot)
        renderer.hasColour = true
        let coloured = renderer.lines(snapshot)
        #expect(coloured.map(LiveFrame.withoutColour) == plain)
        #expect(coloured[0].contains("\u{1B}[32m█"))
        #expect(!plain.joined().contains("\u{1B}"))
    }

    @Test func asciiTerminalGetsAsciiOnly() {
        let snapshot = LiveSnapshot(
            showing: [stage(String(repeating: "download", count: 9), done: 5, failed: 1, running: 2, waiting: 4)],
            of: "no")
        let lines = LiveRenderer(width: 60, height: 24, hasUnicode: false).lines(snapshot)
        #expect(lines.joined().utf8.allSatisfy { $0 < 0x80 })
    }
}

extension LiveSnapshot {
    /// Makes a snapshot of these stages and their sum, with one failure for each text.
    init(showing stages: [LiveStage], of texts: String...) {
        self.init()
        self.stages = stages
        for stage in stages {
            whole.waiting += stage.waiting
            whole.running += stage.running
            whole.done += stage.done
            whole.failed += stage.failed
            whole.begin = .zero
            whole.end = .seconds(3)
        }
        newFailures = texts.enumerated().map {
            LiveFailure(operation: "\(stages[0].name) \($0.offset + 1)", text: $0.element)
        }
        failures = newFailures
    }
}

/// Makes a stage whose finished operations took three seconds.
func stage(_ name: String, done: Int = 0, failed: Int = 0, running: Int = 0, waiting: Int = 0) -> LiveStage {
    var stage = LiveStage(name: name)
    (stage.done, stage.failed, stage.running, stage.waiting) = (done, failed, running, waiting)
    stage.recordStart(at: .zero)
    stage.tick(at: .seconds(3))
    if done + failed > 0 { stage.end = .seconds(3) }
    return stage
}

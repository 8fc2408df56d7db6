import Foundation
import Testing

@testable import Baton
@testable import BatonTrace

/// Tests the page in a headless browser, where one is installed. The tests are serialized, because each starts a
/// browser.
@Suite(.serialized, .enabled(if: Browser.isInstalled, Browser.need), .timeLimit(.minutes(10))) struct BrowserTests {
    /// Two loads, a parser for each, and a report of both, with a retry, a failure, and an operation that is still
    /// running.
    static var work: Trace {
        var sketch = Sketch()
        let one = sketch.add("load 1", 0, ready: 0, start: 0, end: 30)
        let two = sketch.add("load 2", 0, ready: 0, start: 5, end: 45)
        let three = sketch.add("parse 1", 0, after: [one], ready: 30, start: 30, end: 70, outcome: .failure)
        let four = sketch.add("parse 2", 0, after: [two], ready: 45, start: 50, end: 90)
        sketch.add("report", 0, after: [three, four], ready: 90, start: 90, outcome: nil)
        sketch.trace.operations[1].attempts = [
            .init(
                number: 1, ready: .zero, start: .milliseconds(5), end: .milliseconds(15), error: "no route",
                pause: .milliseconds(10)),
            .init(number: 2, ready: .milliseconds(25), start: .milliseconds(25), end: .milliseconds(45)),
        ]
        sketch.trace.operations[2].error = "a comma is missing"
        sketch.trace.end = .milliseconds(100)
        return sketch.trace
    }

    /// Searches for each operation in the table, and points at it in the picture.
    @Test func everyOperationIsFoundAndTheConsoleIsSilent() async throws {
        var sketch = Sketch()
        for (place, name) in hostileNames.enumerated() {
            let source = place == 0 ? [] : [UInt64(place)]
            sketch.add(name, 0, after: source, ready: place, start: place, end: place + 1, outcome: .failure)
            sketch.trace.operations[place].error = name
        }
        sketch.add("never ends", 0, after: [1], outcome: nil)
        // Line breaks and control characters are shown as spaces.
        let names = Set(sketch.trace.operations.map(\.name.singleLine))
        try await Browser.open(sketch.trace, height: 1600) { browser in
            let count: Int = try browser.value("Number(document.documentElement.dataset.operations)")
            #expect(count == names.count)
            let rows: [String] = try browser.value(
                "Array.from(document.querySelectorAll('.row span:first-child'), cell => cell.title)")
            #expect(Set(rows) == names)
            for name in hostileNames.map(\.singleLine) {
                try browser.move(to: browser.run(of: name))
                let tip: String = try browser.value("tip.hidden ? '' : tip.textContent")
                #expect(tip.hasPrefix(name + "\nfailure, id "))
            }
        }
    }

    @Test func aLinkCanSearch() async throws {
        var sketch = Sketch()
        for place in 0..<500 { sketch.add("page \(place)", 0, ready: 0, start: place, end: place + 1) }
        try await Browser.open(sketch.trace, hash: "#find=page%2049&rows=lane&theme=dark&path") { browser in
            let found: [String: String] = try browser.value("({ ...document.documentElement.dataset })")
            #expect(found == ["operations": "500", "found": "11", "theme": "dark"])
            let (group, chosen): (String, String) = try (
                browser.value("$('group').value"), browser.value("state.chosen.name")
            )
            #expect(group == "lane" && chosen == "page 499")
        }
    }

    @Test func withoutOperationsThePageOpensAndSaysSo() async throws {
        try await Browser.open(Trace(of: [])) { browser in
            let summary: String = try browser.value("$('summary').textContent")
            #expect(summary == "No operations.")
            for key in ["+", "-", "0", "c", "ArrowLeft", "ArrowDown", "Escape"] { try browser.type(key) }
            try browser.wheel(at: browser.middle(of: "canvas"), down: 300)
            try browser.click("canvas")
        }
    }

    /// Measures the processor time of the page's thread, so that a busy machine does not matter. It includes loading,
    /// layout and drawing.
    @Test func aHundredThousandOperationsAreDrawnWithinFiveSeconds() async throws {
        try await Browser.open(.ofHundredThousand, page: Trace.pageOfHundredThousand) { browser in
            let count: Int = try browser.value("Number(document.documentElement.dataset.operations)")
            #expect(count == 100_000)
            let seconds: Double = try browser.threadSeconds()
            #expect(seconds > 0 && seconds < 5)
            // Zooming takes less than a second as well.
            try browser.wheel(at: browser.middle(of: "canvas"), down: -300)
            #expect(try browser.threadSeconds() - seconds < 1)
        }
    }
}

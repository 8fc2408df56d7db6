import Testing

@testable import BatonTrace

extension BrowserTests {
    /// Tests of the pointer and the wheel in the picture.
    @Suite struct Pointer {
        @Test func theWheelZoomsAtThePointer() async throws {
            try await Browser.open(work) { browser in
                let point = try browser.run(of: "load 1")
                let (before, span): (Double, Double) = try (
                    browser.value("timeAt(\(point.x))"), browser.value("view.to - view.from")
                )
                try browser.wheel(at: point, down: -400)
                #expect(abs(try browser.value("timeAt(\(point.x))") - before) < 1)
                #expect(try browser.value("view.to - view.from") < span * 0.7)
                try browser.wheel(at: point, down: 400)
                #expect(abs(try browser.value("view.to - view.from") - span) < 1)
            }
        }

        @Test func theWheelMovesAsideWithShift() async throws {
            try await Browser.open(work) { browser in
                let from: Double = try browser.value("view.from")
                try browser.wheel(at: browser.middle(of: "canvas"), down: 100, keys: 8)
                #expect(try browser.value("view.from") > from)
                try browser.wheel(at: browser.middle(of: "canvas"), across: -100, down: 0)
                #expect(abs(try browser.value("view.from") - from) < 1)
            }
        }

        @Test func draggingMovesWhatIsUnderThePointer() async throws {
            try await Browser.open(work) { browser in
                var point = try browser.run(of: "parse 1")
                let time: Double = try browser.value("timeAt(\(point.x))")
                try browser.move(to: point)
                try browser.press(at: point)
                for _ in 0..<5 {
                    point.x += 20
                    try browser.move(to: point, isPressed: true)
                }
                try browser.release(at: point)
                #expect(abs(try browser.value("timeAt(\(point.x))") - time) < 1)
                // A drag selects no operation.
                #expect(try browser.value("state.chosen === null"))
                point.x += 50
                try browser.move(to: point)
                #expect(abs(try browser.value("timeAt(\(point.x - 50))") - time) < 1)
            }
        }

        @Test(arguments: ["stage", "lane"]) func dependenciesAreShownUnderThePointer(rows: String) async throws {
            try await Browser.open(work, hash: "#rows=\(rows)") { browser in
                let free: Int = try browser.linkPixels(besides: "report")
                try browser.move(to: browser.run(of: "parse 2"))
                let tip: String = try browser.value("tip.hidden ? '' : tip.textContent")
                #expect(tip.contains("\nafter: load 2\nbefore: report"))
                try browser.move(to: browser.run(of: "report"))
                #expect(try browser.linkPixels(besides: "report") > free + 5)
                try browser.move(to: browser.run(of: "load 2"))
                let failed: String = try browser.value("tip.textContent")
                #expect(failed.contains("run 1: 10.0 ms, failed: no route\nrun 2: 20.0 ms"))
                try browser.move(to: browser.middle(of: "header"))
                #expect(try browser.value("tip.hidden"))
                #expect(try browser.linkPixels(besides: "report") == free)
            }
        }

        @Test func theAxisTellsTimesApartHoweverNear() async throws {
            try await Browser.open(work) { browser in
                for _ in 0..<12 {
                    try browser.wheel(at: browser.run(of: "parse 1"), down: -500)
                    let times: [String] = try browser.value(
                        """
                        (() => { const step = axisStep(), first = Math.ceil(view.from / step);
                        return Array.from({ length: 8 }, (_, number) => moment((first + number) * step, step)) })()
                        """)
                    #expect(Set(times).count == 8, "\(times)")
                }
            }
        }

        @Test("The page shows only the colours and legend of what occurs in the trace", arguments: [false, true])
        func whatHappenedHasItsColour(isDark: Bool) async throws {
            try await Browser.open(work, isDark: isDark) { browser in
                for colour in ["success", "failure", "running", "dependencies", "queue", "pause", "critical"] {
                    #expect(try browser.pixels(of: colour) > 100, "\(colour)")
                }
                for colour in ["cancelled", "delay", "conditions"] {
                    #expect(try browser.pixels(of: colour) < 20, "\(colour)")
                }
                let legend: String = try browser.value("$('legend').textContent")
                #expect(legend.contains("waits for the queue") && !legend.contains("a delay"))
            }
        }

        @Test("Waits for exclusions, rates and suspended queues have their own colours and words")
        func waitsAreToldApart() async throws {
            var sketch = Sketch()
            sketch.add("held", 0, ready: 0, start: 80, end: 100)
            sketch.trace.operations[0].attempts[0].obstacles = [
                .init(reason: .exclusion, name: "‘<db>’", start: .milliseconds(0), end: .milliseconds(20)),
                .init(reason: .rate, name: "‘api’ (1 in 2 seconds)", start: .milliseconds(20), end: .milliseconds(40)),
            ]
            sketch.trace.operations[0].suspensions = [.init(start: .milliseconds(40), end: .milliseconds(60))]
            sketch.trace.suspensions = [.init(start: .milliseconds(40), end: .milliseconds(60))]
            try await Browser.open(sketch.trace) { browser in
                for colour in ["exclusion", "rate", "suspension", "queue"] {
                    #expect(try browser.pixels(of: colour) > 100, "\(colour)")
                }
                let legend: String = try browser.value("$('legend').textContent")
                for words in ["waits for an exclusion", "waits for a rate", "waits for the suspended queue"] {
                    #expect(legend.contains(words))
                }
                try browser.move(to: browser.run(of: "held"))
                let tip: String = try browser.value("tip.textContent")
                #expect(tip.contains("waited for the exclusion ‘<db>’: 20.0 ms"), "\(tip)")
                #expect(tip.contains("waited for the rate ‘api’ (1 in 2 seconds): 20.0 ms"))
                #expect(tip.contains("waited for the suspended queue: 20.0 ms\nwaited for the queue: 20.0 ms"))
            }
        }

        /// The rows that one looks for in the trace of a stuck program end at the right edge.
        @Test(
            "Operations that have not run have names, although their bars end at the right edge",
            arguments: [600, 1200])
        func namesAtTheRightEdge(width: Int) async throws {
            var sketch = Sketch()
            sketch.add("holds the permit", 0, ready: 0, start: 0)
            for place in 1...4 { sketch.add("blocked \(place)", 20 * place, ready: 20 * place) }
            sketch.add("waits for it", 10, after: [1])
            sketch.add("quick", 97, ready: 97, start: 98, end: 100)
            sketch.trace.end = .milliseconds(100)
            let trace = sketch.trace
            for rows in ["stage", "lane"] {
                try await Browser.open(trace, hash: "#rows=\(rows)", width: width) { browser in
                    let texts: [[String: Any]] = try browser.value(
                        """
                        (() => { const texts = [], fill = pen.fillText;
                        pen.fillText = (text, at) => { const size = pen.measureText(text).width;
                          texts.push({ text, left: pen.textAlign === 'right' ? at - size : at, size }) };
                        draw(); pen.fillText = fill; return texts })()
                        """)
                    let edge: Double = try browser.value("width")
                    for operation in trace.operations {
                        let found = texts.first { $0["text"] as? String == operation.name }
                        guard let found else {
                            Issue.record("no name of \(operation.name) in \(rows)")
                            continue
                        }
                        let (left, size) = (found["left"] as? Double ?? -1, found["size"] as? Double ?? 0)
                        #expect(left >= 0 && left + size <= edge, "\(operation.name) at \(left)")
                    }
                }
            }
        }

        @Test func theTipStaysInThePicture() async throws {
            try await Browser.open(work, width: 360, height: 640) { browser in
                for name in ["load 1", "parse 2", "report"] {
                    try browser.move(to: browser.run(of: name))
                    let isInside: Bool = try browser.value(
                        """
                        (() => { const box = tip.getBoundingClientRect(), stage = $('stage').getBoundingClientRect();
                        return !tip.hidden && box.left >= 0 && box.right <= innerWidth && box.top >= stage.top - 1
                          && box.bottom <= stage.bottom + 1 })()
                        """)
                    #expect(isInside, "\(name)")
                }
            }
        }

        @Test func aClickChoosesInTheTable() async throws {
            try await Browser.open(work) { browser in
                try browser.click(browser.run(of: "parse 2"))
                #expect(try browser.value("document.querySelector('.row.chosen span').textContent") == "parse 2")
                try browser.type("Escape")
                #expect(try browser.value("document.querySelector('.row.chosen') === null"))
            }
        }

        @Test(arguments: [700, 707, 714, 721]) func aChosenOneIsScrolledTo(height: Int) async throws {
            var sketch = Sketch()
            for place in 0..<300 { sketch.add("page \(place)", 0, ready: place, start: place, end: place + 5) }
            try await Browser.open(sketch.trace, height: height) { browser in
                try browser.click(browser.run(of: "page 2"))
                try browser.type("Escape", "c")
                let isSeen: Bool = try browser.value(
                    """
                    (() => { const row = document.querySelector('.row.chosen'); if (!row) return false;
                    const box = row.getBoundingClientRect(), all = rowsBox.getBoundingClientRect();
                    return box.top >= all.top - 1 && box.bottom <= all.bottom + 1 })()
                    """)
                #expect(isSeen)
            }
        }
    }
}

extension Browser {
    /// Counts the pixels that have the colour of links, without the row of `name`, whose outline has that colour as
    /// well.
    fileprivate func linkPixels(besides name: String) throws -> Int {
        let row = "rowY(operations.find(one => one.name === \(Browser.quoted(name))))"
        return try pixels(of: "mark", besides: row, tolerance: 24)
    }

    /// Counts the pixels that have a colour, without those near the row at a vertical position.
    fileprivate func pixels(of colour: String, besides row: String = "-100", tolerance: Int = 8) throws -> Int {
        try value(
            """
            (() => { const copy = new OffscreenCanvas(canvas.width, canvas.height);
            const picture = copy.getContext('2d', { willReadFrequently: true });
            picture.drawImage(canvas, 0, 0);
            const all = picture.getImageData(0, 0, canvas.width, canvas.height).data;
            const short = colours['\(colour)'].slice(1),
              long = short.length === 3 ? short.replace(/./g, '$&$&') : short;
            const mark = long.match(/../g).map(part => parseInt(part, 16));
            const top = \(row);
            let count = 0;
            for (let k = 0; k < all.length; k += 4)
              if (Math.abs(Math.floor(k / 4 / canvas.width) - top - rowHeight / 2) > rowHeight
                && mark.every((part, number) => Math.abs(all[k + number] - part) < \(tolerance))) count++;
            return count })()
            """)
    }
}

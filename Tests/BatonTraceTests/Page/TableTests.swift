import Testing

@testable import BatonTrace

extension BrowserTests {
    /// Tests of keys, search, table and buttons.
    @Suite struct Table {
        @Test func keysZoomAndMove() async throws {
            try await Browser.open(work) { browser in
                func view() throws -> (from: Double, to: Double) {
                    try (browser.value("view.from"), browser.value("view.to"))
                }
                let whole = try view()
                try browser.type("+")
                let near = try view()
                #expect(near.from > whole.from && near.to < whole.to)
                try browser.type("ArrowRight")
                let right = try view()
                #expect(right.from > near.from && right.to > near.to)
                try browser.type("ArrowLeft")
                #expect(abs(try view().from - near.from) < 1)
                try browser.type("-", "-")
                #expect(try view().to > near.to)
                try browser.type("0")
                let all = try view()
                #expect(all.from < 0 && all.to > 100_000 && all.to < 110_000)
                try browser.type("c")
                #expect(try browser.value("state.chosen.name") == "report")
            }
        }

        @Test func searchFindsNamesErrorsAndOutcomes() async throws {
            try await Browser.open(work) { browser in
                try browser.type("/")
                for key in "load" { try browser.type(String(key)) }
                #expect(try browser.column(0) == ["load 1", "load 2"])
                try browser.type("Escape")
                #expect(try browser.column(0).count == 5)
                try browser.type("/", "c", "o", "m", "m", "a")
                #expect(try browser.column(0) == ["parse 1"])
                try browser.type("Escape", "/")
                for key in "running" { try browser.type(String(key)) }
                #expect(try browser.column(0) == ["report"])
                // In the search field, keys enter letters.
                let from: Double = try browser.value("view.from")
                try browser.type("+", "c")
                #expect(try browser.value("view.from") == from)
                #expect(try browser.value("$('search').value") == "running+c")
                #expect(try browser.column(0).isEmpty)
            }
        }

        /// A trace of 300 pages, some of which the tests search for.
        private static var pages: Trace {
            var sketch = Sketch()
            for place in 0..<300 {
                // The runs overlap, so that each has a row of its own.
                sketch.add("page \(place)", 0, ready: place, start: place * 10, end: 4000 + place)
            }
            return sketch.trace
        }

        /// Returns whether the row of the selected operation is visible, in the picture and in the table.
        private static func seen(_ browser: Browser) throws -> [Bool] {
            try browser.value(
                """
                (() => { const y = rowY(state.chosen), row = document.querySelector('.row.chosen');
                const box = row ? row.getBoundingClientRect() : { top: -1e6 }, all = rowsBox.getBoundingClientRect();
                return [y >= axisHeight - 1 && y + rowHeight <= height + 1,
                  x(state.chosen.start) < width && x(state.chosen.end) > 0,
                  box.top >= all.top - 1 && box.bottom <= all.bottom + 1] })()
                """)
        }

        @Test("The search goes to its first match, Enter to the next, and Shift-Enter to the previous one")
        func searchGoesThroughItsMatches() async throws {
            try await Browser.open(Self.pages) { browser in
                func expect(_ name: String) throws {
                    #expect(try browser.value("state.chosen.name") == name)
                    #expect(try Self.seen(browser) == [true, true, true], "\(name)")
                }
                try browser.type("/")
                for key in "age 2" { try browser.type(String(key)) }
                for key in "9" { try browser.type(String(key)) }
                // The matches are page 29 and pages 290 to 299.
                #expect(try browser.column(0).first == "page 29")
                try expect("page 29")
                try browser.type("Enter")
                try expect("page 290")
                try browser.type("Enter")
                try expect("page 291")
                try browser.type(shift: "Enter")
                try browser.type(shift: "Enter")
                try expect("page 29")
                // The search wraps around.
                try browser.type(shift: "Enter")
                try expect("page 299")
                try browser.type("Enter")
                try expect("page 29")
            }
        }

        @Test("A match is brought into view if only its wait is visible, but not its run")
        func searchMovesInTime() async throws {
            var sketch = Sketch()
            for place in 0..<100 { sketch.add("page \(place)", 0, ready: 0, start: place * 10, end: place * 10 + 5) }
            try await Browser.open(sketch.trace) { browser in
                for _ in 0..<4 { try browser.wheel(at: browser.run(of: "page 1"), down: -500) }
                let span: Double = try browser.value("view.to - view.from")
                #expect(try browser.value("view.to < operations[77].start"))
                try browser.type("/")
                for key in "page 77" { try browser.type(String(key)) }
                #expect(try browser.value("state.chosen.name") == "page 77")
                #expect(try Self.seen(browser) == [true, true, true])
                #expect(abs(try browser.value("view.to - view.from") - span) < 1)
            }
        }

        @Test("A search without a match moves nothing, and neither does Enter")
        func searchWithoutMatch() async throws {
            try await Browser.open(Self.pages) { browser in
                try browser.type("/")
                for key in "page 250" { try browser.type(String(key)) }
                func place() throws -> [Double] { try browser.value("[view.from, view.to, view.top]") }
                let before = try place()
                #expect(before[2] > 0)
                for key in "?!" { try browser.type(String(key)) }
                #expect(try browser.column(0).isEmpty)
                try browser.type("Enter")
                try browser.type(shift: "Enter")
                #expect(try place() == before)
                #expect(try browser.value("state.chosen.name") == "page 250")
                // An empty search has no match.
                try browser.type("Escape", "/", "Enter")
                #expect(try place() == before)
                #expect(try browser.value("state.chosen === null"))
            }
        }

        @Test func aClickOnAHeadSorts() async throws {
            try await Browser.open(work) { browser in
                #expect(try browser.column(0) == ["load 1", "load 2", "parse 1", "parse 2", "report"])
                try browser.click("#head button:nth-child(1)")
                try browser.click("#head button:nth-child(1)")
                #expect(try browser.column(0) == ["report", "parse 2", "parse 1", "load 2", "load 1"])
                try browser.click("#head button:nth-child(5)")
                #expect(try browser.column(4) == ["40.0 ms", "40.0 ms", "30.0 ms", "30.0 ms", "10.0 ms"])
                #expect(try browser.value("$('head').children[4].getAttribute('aria-sort')") == "descending")
                try browser.click("#head button:nth-child(5)")
                #expect(try browser.column(4).first == "10.0 ms")
                try browser.click("#head button:nth-child(6)")
                #expect(try browser.column(5) == ["2", "1", "1", "1", "1"])
                try browser.click("#head button:nth-child(2)")
                #expect(try browser.column(1) == ["success", "success", "success", "failure", "running"])
                try browser.click("#head button:nth-child(4)")
                #expect(try browser.column(3).first == "90.0 ms")
            }
        }

        @Test func aClickOnARowShowsTheOperation() async throws {
            try await Browser.open(work) { browser in
                try browser.click(".row:nth-child(4)")
                #expect(try browser.value("state.chosen.name") == "parse 1")
                #expect(try browser.value("view.from > -2000 && view.to < 72000"))
            }
        }

        @Test func buttonsDoWhatKeysDo() async throws {
            try await Browser.open(work) { browser in
                let span: Double = try browser.value("view.to - view.from")
                try browser.click("#in")
                #expect(try browser.value("view.to - view.from") < span)
                try browser.click("#out")
                try browser.click("#out")
                #expect(try browser.value("view.to - view.from") > span)
                try browser.click("#path")
                #expect(try browser.value("state.chosen.name") == "report")
                try browser.click("#theme")
                #expect(try browser.value("document.documentElement.dataset.theme") == "dark")
                try browser.click("#fit")
                #expect(try browser.value("view.to > 100000 && view.to < 110000"))
            }
        }

        /// Scrolls with the wheel through far more rows than the document contains at a time.
        @Test func aLongTableIsScrolledThrough() async throws {
            try await Browser.open(.ofHundredThousand, page: Trace.pageOfHundredThousand) { browser in
                #expect(try browser.column(0).count < 60)
                for _ in 0..<3 { try browser.wheel(at: browser.middle(of: "#rows"), down: 3e6) }
                #expect(try browser.column(0).last == "download page 99999")
            }
        }
    }
}

extension Browser {
    /// Returns the texts of a column of the table, from top to bottom.
    fileprivate func column(_ number: Int) throws -> [String] {
        try value("Array.from(document.querySelectorAll('.row'), row => row.children[\(number)].textContent)")
    }
}

import Testing

@testable import BatonTrace

extension BrowserTests {
    /// Keys, search, the table and the buttons.
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
                // Keys are letters there.
                let from: Double = try browser.value("view.from")
                try browser.type("+", "c")
                #expect(try browser.value("view.from") == from)
                #expect(try browser.value("$('search').value") == "running+c")
                #expect(try browser.column(0).isEmpty)
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

        /// With the wheel of a user, over a hundred times as many rows as there are in the document.
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
    /// The texts of a column of the table, from the top.
    fileprivate func column(_ number: Int) throws -> [String] {
        try value("Array.from(document.querySelectorAll('.row'), row => row.children[\(number)].textContent)")
    }
}

import Testing

@testable import BatonTrace

extension BrowserTests {
    /// Tests the page on small and large screens, in light and dark mode.
    @Suite struct Width {
        @Test(arguments: [360, 1280, 2560], [false, true])
        func everythingFitsAndCanBeRead(width: Int, isDark: Bool) async throws {
            try await Browser.open(work, width: width, height: 740, isDark: isDark) { browser in
                let isWider: Bool = try browser.value("document.documentElement.scrollWidth > innerWidth")
                #expect(!isWider)
                let outside: [String] = try browser.value(
                    """
                    Array.from(document.querySelectorAll('header *, #head button, .row span, canvas, #summary'))
                      .filter(one => { const box = one.getBoundingClientRect();
                        return box.width > 0 && (box.left < -1 || box.right > innerWidth + 1) })
                      .map(one => one.outerHTML)
                    """)
                #expect(outside == [])
                // These columns are never hidden or truncated.
                for column in ["Operation", "Outcome", "Waiting", "Running", "Runs"] {
                    let isWhole: Bool = try browser.value(
                        """
                        (() => { const place = columns.findIndex(one => one[0] === '\(column)');
                        return [$('head'), ...document.querySelectorAll('.row')].every(row => {
                          const cell = row.children[place];
                          return cell.offsetWidth > 10 && getComputedStyle(cell).visibility === 'visible'
                            && cell.scrollWidth <= cell.offsetWidth }) })()
                        """)
                    #expect(isWhole, "\(column)")
                }
                let high: Double = try browser.value("canvas.getBoundingClientRect().height")
                #expect(high >= 120)
            }
        }

        /// WCAG 2 requires a contrast of at least 4.5 for text of this size.
        @Test(arguments: [false, true]) func textCanBeToldFromWhatIsBehindIt(isDark: Bool) async throws {
            try await Browser.open(work, isDark: isDark) { browser in
                let weak: [String] = try browser.value(
                    """
                    (() => {
                    const light = name => { const [r, g, b] = readable(colours[name]).map(part => part / 255)
                      .map(part => part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4);
                      return 0.2126 * r + 0.7152 * g + 0.0722 * b };
                    const readable = colour => { const short = colour.slice(1);
                      const long = short.length === 3 ? short.replace(/./g, '$&$&') : short;
                      return long.match(/../g).map(part => parseInt(part, 16)) };
                    const contrast = (a, b) => { const [low, high] = [light(a), light(b)].sort((a, b) => a - b);
                      return (high + 0.05) / (low + 0.05) };
                    const pairs = [['text', 'back'], ['text', 'panel'], ['faint', 'back'], ['faint', 'panel'],
                      ...conditions.map(name => [name, 'back']), ...conditions.map(name => ['label', name])];
                    return pairs.filter(pair => contrast(...pair) < 4.5)
                      .map(pair => pair.join(' on ') + ' ' + contrast(...pair).toFixed(2)) })()
                    """)
                #expect(weak == [])
            }
        }
    }
}

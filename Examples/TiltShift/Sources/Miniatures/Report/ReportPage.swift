internal import BatonTrace
package import Foundation

extension BatchResult {
    /// Writes a self-contained page with the pictures before and after, the timeline of the run, and its graph.
    ///
    /// Graphviz draws the graph. If it is not installed, the page says so.
    package func writeReport(to file: URL) async throws {
        do {
            try PictureFile.write(Data(await page().utf8), to: file)
        } catch {
            throw ReportError(description: "the report \(error)")
        }
    }

    private func page() async -> String {
        let graph: String
        do {
            // Removes the XML declaration, which is not allowed inside a page.
            graph = "<div class=\"graph\">\(try await trace.svg().drop { $0 != "<" }.from("<svg"))</div>"
        } catch {
            graph = "<p>\(html("\(error)"))</p>"
        }
        return """
            <!DOCTYPE html>
            <html lang="en">
            <head>
            <meta charset="utf-8">
            <meta name="viewport" content="width=device-width, initial-scale=1">
            <title>Miniatures</title>
            <style>
            \(ReportPage.style)
            </style>
            </head>
            <body>
            <h1>Miniatures</h1>
            <p>\(html(closingLine))</p>
            <main>
            \(pictures.map(\.figure).joined(separator: "\n"))
            </main>
            <h2>What was done when</h2>
            <iframe title="Timeline" srcdoc="\(html(trace.timeline(stage: Stage.name(of:))))"></iframe>
            <h2>What waited for what</h2>
            \(graph)
            <script>
            \(ReportPage.script)
            </script>
            </body>
            </html>

            """
    }
}

private struct ReportError: Error, CustomStringConvertible {
    let description: String
}

extension PictureResult {
    fileprivate var figure: String {
        switch outcome {
        case .made(let picture):
            guard let before = picture.before, let after = picture.after else { return "" }
            return """
                <figure>
                <div class="wipe" style="--at: 50%">
                <img src="\(dataAddress(before))" alt="\(html(input)) before">
                <img class="after" src="\(dataAddress(after))" alt="\(html(input)) after">
                <input type="range" min="0" max="100" value="50" \
                aria-label="How much of \(html(input)) is shown as it was">
                </div>
                <figcaption><b>\(html(input))</b> \(picture.saved.width) × \(picture.saved.height), \
                <a href="\(html(picture.saved.file.absoluteString))">\
                \(html(picture.saved.file.lastPathComponent))</a></figcaption>
                </figure>
                """
        case .toMake: return line("is to be made")
        case .upToDate: return line("is up to date")
        case .duplicate: return line("was named twice, and is done once")
        case .failed(let why): return line(why, "failed")
        case .cancelled: return line("was cancelled")
        }
    }

    private func line(_ text: String, _ kind: String = "other") -> String {
        "<p class=\"\(kind)\"><b>\(html(input))</b> \(html(text))</p>"
    }

    private func dataAddress(_ jpeg: Data) -> String { "data:image/jpeg;base64,\(jpeg.base64EncodedString())" }
}

/// Escapes a text for an element or for an attribute in double quotes.
private func html(_ text: String) -> String {
    var result = ""
    result.reserveCapacity(text.utf8.count * 9 / 8)
    for scalar in text.unicodeScalars {
        switch scalar {
        case "&": result += "&amp;"
        case "<": result += "&lt;"
        case ">": result += "&gt;"
        case "\"": result += "&quot;"
        default: result.unicodeScalars.append(scalar)
        }
    }
    return result
}

extension Substring {
    /// Returns the rest from the first occurrence of `text`, or an empty text if there is none.
    fileprivate func from(_ text: String) -> Substring { range(of: text).map { self[$0.lowerBound...] } ?? "" }
}

private enum ReportPage {
    static let style = """
        :root { color-scheme: light dark; font: 16px/1.5 system-ui, sans-serif; }
        body { margin: 0 auto; padding: 1rem clamp(1rem, 4vw, 3rem) 4rem; max-width: 90rem; }
        main { display: grid; grid-template-columns: repeat(auto-fill, minmax(min(100%, 32rem), 1fr)); gap: 1.5rem; }
        main p { grid-column: 1 / -1; margin: 0; }
        figure { margin: 0; }
        figcaption { margin-top: .4rem; }
        .failed { color: light-dark(#b3261e, #f2b8b5); }
        .wipe { position: relative; display: grid; border-radius: .5rem; overflow: hidden; }
        .wipe > * { grid-area: 1 / 1; width: 100%; }
        .wipe .after { clip-path: inset(0 0 0 var(--at)); }
        .wipe::after { content: ""; position: absolute; inset: 0 auto 0 var(--at); width: 2px; margin-left: -1px;
          background: #fff; box-shadow: 0 0 4px #000a; pointer-events: none; }
        .wipe input { opacity: 0; height: 100%; margin: 0; cursor: ew-resize; }
        .wipe:focus-within { outline: 3px solid Highlight; outline-offset: 2px; }
        iframe { width: 100%; height: 46rem; border: 1px solid #8886; border-radius: .5rem; }
        .graph { overflow: auto; max-height: 46rem; background: #fff; border: 1px solid #8886; border-radius: .5rem; }
        """

    static let script = """
        for (const wipe of document.querySelectorAll('.wipe'))
          wipe.querySelector('input').addEventListener('input', event =>
            wipe.style.setProperty('--at', event.target.value + '%'));
        """
}

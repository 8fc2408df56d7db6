public import Baton

extension Trace {
    /// Returns a page that shows the trace: one HTML file that needs neither a network nor a server.
    ///
    /// The page shows runs and waits over time, grouped by stage or by lane. Failures and retries are coloured, the
    /// critical path is marked, times in which the queue was suspended are shaded, and the dependencies of the
    /// operation under the pointer are drawn. The wheel, the arrows and the keys + − 0 zoom and move. The search goes
    /// to the next match with Enter, and to the previous one with Shift and Enter. A table lists the operations and can
    /// be sorted.
    ///
    /// A hundred thousand operations make about 18 MB. Names are cut after 120 characters.
    ///
    /// The stages are those of ``summary()``.
    ///
    /// - Returns: The text of the HTML file.
    /// - Complexity: O(*n* log *n*), where *n* is the number of events in the trace.
    public func timeline() -> String { timeline(stage: defaultStages()) }

    /// Returns a page that shows the trace, with the caller's stages; see ``timeline()``.
    ///
    /// - Parameter stage: Returns the name of the stage that an operation is shown in. It is called with each
    ///   operation, on the calling thread.
    /// - Returns: The text of the HTML file.
    /// - Complexity: O(*n* log *n*), where *n* is the number of events in the trace.
    public func timeline(stage: (OperationReference) -> String) -> String {
        String(decoding: timelineBytes(stage: stage), as: UTF8.self)
    }

    func timelineBytes() -> [UInt8] { timelineBytes(stage: defaultStages()) }

    private func timelineBytes(stage: (OperationReference) -> String) -> [UInt8] {
        var page = Array(TimelinePage.head(title: queueName ?? "Trace").utf8)
        withoutActuallyEscaping(stage) { stage in
            var data = PageData(of: self, stage: stage)
            page += data.bytes()
        }
        page += TimelinePage.tail.utf8
        return page
    }
}

/// The HTML around the data. The page loads nothing: the content security policy in its head forbids it.
enum TimelinePage {
    static func head(title: String) -> String {
        """
        <!DOCTYPE html>
        <html lang="en">
        <head>
        <meta charset="utf-8">
        <meta name="viewport" content="width=device-width, initial-scale=1">
        <meta http-equiv="Content-Security-Policy"
        content="default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'">
        <title>\(escaped(title))</title>
        <style>
        \(style)
        </style>
        </head>
        <body>
        \(structure)
        <script id="data" type="application/json">
        """
    }

    static var tail: String {
        "</script>\n<script>\n'use strict';\n"
            + [layoutScript, drawingScript, axisScript, detailScript, tableScript, controlScript]
            .joined(separator: "\n") + "\n</script>\n</body>\n</html>\n"
    }

    /// Returns the text as it is written in an element.
    static func escaped(_ text: String) -> String {
        Graph.escaped(text) { scalar in
            switch scalar {
            case "&": "&amp;"
            case "<": "&lt;"
            case ">": "&gt;"
            case "\"": "&quot;"
            case "\n": " "
            default: nil
            }
        }
    }

    private static let structure = #"""
        <header>
        <h1 id="title" dir="auto"></h1><span id="figures"></span>
        <input id="search" type="search" placeholder="Search names and errors" aria-label="Search names and errors"
        title="Enter: the next match; Shift and Enter: the one before">
        <label>Rows <select id="group" aria-label="Group rows"><option value="stage">by stage</option>
        <option value="lane">by lane</option></select></label>
        <span class="buttons"><button id="out" title="Zoom out (−)">−</button>
        <button id="fit" title="All (0)">All</button>
        <button id="in" title="Zoom in (+)">+</button>
        <button id="path" title="Zoom to the critical path (c)">Critical path</button>
        <button id="theme" title="Light or dark">◐</button></span>
        </header>
        <p id="legend"></p>
        <div id="stage"><canvas id="canvas" tabindex="0" role="img" aria-label="Operations over time"></canvas>
        <div id="tip" hidden></div></div>
        <section id="lower"><div id="table" role="table" aria-label="Operations"><div id="head" role="row"></div>
        <div id="rows" tabindex="0"><div id="space"></div></div></div>
        <pre id="summary" dir="auto"></pre></section>
        """#
}

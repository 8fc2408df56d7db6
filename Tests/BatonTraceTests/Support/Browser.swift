import Foundation
import Testing

@testable import BatonTrace

/// A headless browser, controlled over the DevTools protocol: clicks, keys and the wheel are handled like those of a
/// user.
///
/// All methods block the calling thread; see `open`, which calls its body on a thread of its own.
final class Browser {
    enum Trouble: Error {
        case closed, silent
        case refused(String)
    }

    static let program =
        ([
            "/Applications/Google Chrome.app/Contents/MacOS/Google Chrome",
            "/Applications/Chromium.app/Contents/MacOS/Chromium",
        ]
        + ["chromium", "chromium-browser", "google-chrome", "google-chrome-stable"].flatMap { name in
            (ProcessInfo.processInfo.environment["PATH"] ?? "/usr/bin").split(separator: ":").map { "\($0)/\(name)" }
        })
        .first { FileManager.default.isExecutableFile(atPath: $0) }

    static var isInstalled: Bool { program != nil }
    /// The reason why a test is skipped.
    static let need: Comment = "There is no Chromium in PATH. ‘scripts/bootstrap test’ installs it."

    private let process = Process()
    private let input = Foundation.Pipe()
    private let output = Foundation.Pipe()
    private var received = Data()
    private var count = 0
    private var session: String?
    /// The errors and warnings of the console and the browser.
    private(set) var complaints: [String] = []
    private var loadedCount = 0

    private init(_ program: String, profile: URL) throws {
        process.executableURL = URL(fileURLWithPath: "/bin/sh")
        // The browser reads the protocol from descriptor 3 and writes it to descriptor 4.
        process.arguments = [
            "-c", #"exec "$0" "$@" 3<&0 4>&1 </dev/null >/dev/null 2>&1"#, program, "--headless", "--no-sandbox",
            "--disable-gpu", "--disable-dev-shm-usage", "--no-first-run", "--remote-debugging-pipe",
            "--user-data-dir=\(profile.path)", "about:blank",
        ]
        process.standardInput = input
        process.standardOutput = output
        try process.run()
        let target = try call("Target.createTarget", ["url": "about:blank"])["targetId"] ?? ""
        session = try call("Target.attachToTarget", ["targetId": target, "flatten": true])["sessionId"] as? String
        for domain in ["Page", "Runtime", "Log"] { try call("\(domain).enable") }
        try call("Performance.enable", ["timeDomain": "threadTicks"])
    }

    /// Shows a trace, and calls a body on a thread of its own to inspect it. Makes the page, unless `content` is given.
    static func open(
        _ trace: Trace, page content: [UInt8]? = nil, hash: String = "", width: Int = 1200, height: Int = 800,
        isDark: Bool = false,
        _ body: @escaping @Sendable (Browser) throws -> Void
    ) async throws {
        let program = try #require(program)
        let folder = FileManager.default.temporaryDirectory.appending(path: "baton-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let page = folder.appending(path: "page.html")
        try Data(content ?? trace.timelineBytes()).write(to: page)
        try await BlockingThread.run {
            let browser = try Browser(program, profile: folder.appending(path: "profile"))
            defer { browser.close() }
            try browser.resize(width, height, isDark: isDark)
            try browser.load(page.absoluteString + hash)
            try body(browser)
            #expect(browser.complaints == [])
        }
    }

    private func close() {
        _ = try? call("Browser.close")
        process.terminate()
        process.waitUntilExit()
    }

    // MARK: The protocol

    @discardableResult
    func call(_ method: String, _ parameters: [String: Any] = [:]) throws -> [String: Any] {
        count += 1
        var message: [String: Any] = ["id": count, "method": method, "params": parameters]
        message["sessionId"] = session
        let number = count
        try input.fileHandleForWriting.write(contentsOf: JSONSerialization.data(withJSONObject: message) + [0])
        while true {
            let answer = try next()
            guard answer["id"] as? Int == number else { continue }
            if let error = answer["error"] { throw Trouble.refused("\(method): \(error)") }
            return answer["result"] as? [String: Any] ?? [:]
        }
    }

    /// Returns the next response or event. Events are also recorded.
    private func next() throws -> [String: Any] {
        while true {
            if let end = received.firstIndex(of: 0) {
                let message = try JSONSerialization.jsonObject(with: received[received.startIndex..<end])
                received = Data(received[(end + 1)...])
                let object = message as? [String: Any] ?? [:]
                note(object)
                return object
            }
            // A browser that is silent for two minutes is considered dead.
            var ready = pollfd(fd: output.fileHandleForReading.fileDescriptor, events: Int16(POLLIN), revents: 0)
            if poll(&ready, 1, 120_000) == 0 { throw Trouble.silent }
            let more = output.fileHandleForReading.availableData
            if more.isEmpty { throw Trouble.closed }
            received += more
        }
    }

    private func note(_ event: [String: Any]) {
        let parameters = event["params"] as? [String: Any] ?? [:]
        switch event["method"] as? String {
        case "Page.loadEventFired": loadedCount += 1
        case "Runtime.exceptionThrown", "Runtime.consoleAPICalled", "Log.entryAdded": complaints.append("\(parameters)")
        default: break
        }
    }

    // MARK: The page

    func resize(_ width: Int, _ height: Int, isDark: Bool) throws {
        try call(
            "Emulation.setDeviceMetricsOverride",
            ["width": width, "height": height, "deviceScaleFactor": 1, "mobile": false])
        let scheme = ["name": "prefers-color-scheme", "value": isDark ? "dark" : "light"]
        try call("Emulation.setEmulatedMedia", ["features": [scheme]])
    }

    private func load(_ address: String) throws {
        let before = loadedCount
        try call("Page.navigate", ["url": address])
        while loadedCount == before { _ = try next() }
        try settle()
    }

    /// Returns when the page has drawn all pending changes.
    func settle() throws {
        try call(
            "Runtime.evaluate",
            [
                "expression": "new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)))",
                "awaitPromise": true,
            ])
    }

    /// Evaluates an expression in the page.
    func value<Value>(_ expression: String, as type: Value.Type = Value.self) throws -> Value {
        let answer = try call("Runtime.evaluate", ["expression": expression, "returnByValue": true])
        if let details = answer["exceptionDetails"] { throw Trouble.refused("\(expression): \(details)") }
        return try #require((answer["result"] as? [String: Any])?["value"] as? Value, "\(expression): \(answer)")
    }

    /// Returns the processor time of the page's thread, in seconds.
    func threadSeconds() throws -> Double {
        let metrics = try call("Performance.getMetrics")["metrics"] as? [[String: Any]] ?? []
        return try #require(metrics.first { $0["name"] as? String == "TaskDuration" }?["value"] as? Double)
    }

    // MARK: The user

    struct Point {
        var x: Double
        var y: Double
    }

    /// Returns the middle of the first element that matches a selector.
    func middle(of selector: String) throws -> Point {
        let box: [Double] = try value(
            """
            (() => { const box = document.querySelector(\(Self.quoted(selector))).getBoundingClientRect();
            return [box.left + box.width / 2, box.top + box.height / 2] })()
            """)
        return Point(x: box[0], y: box[1])
    }

    /// Returns the position at which the first run of an operation is drawn, in whole pixels, because the wheel
    /// supports no others.
    func run(of name: String) throws -> Point {
        let box: [Double] = try value(
            """
            (() => { const one = operations.find(one => one.name === \(Self.quoted(name)));
            const box = canvas.getBoundingClientRect();
            return [box.left + x((one.runs[1] + one.runs[2]) / 2),
              box.top + rowY(one) + rowHeight / 2].map(Math.round) })()
            """)
        return Point(x: box[0], y: box[1])
    }

    func move(to point: Point, isPressed: Bool = false) throws {
        try mouse("mouseMoved", point, ["button": isPressed ? "left" : "none", "buttons": isPressed ? 1 : 0])
        try settle()
    }

    func press(at point: Point) throws { try mouse("mousePressed", point, ["button": "left", "clickCount": 1]) }

    func release(at point: Point) throws {
        try mouse("mouseReleased", point, ["button": "left", "clickCount": 1])
        try settle()
    }

    func click(_ point: Point) throws {
        try move(to: point)
        try press(at: point)
        try release(at: point)
    }

    func click(_ selector: String) throws { try click(middle(of: selector)) }

    func wheel(at point: Point, across: Double = 0, down: Double, keys: Int = 0) throws {
        try mouse("mouseWheel", point, ["deltaX": across, "deltaY": down, "modifiers": keys])
        try settle()
    }

    func type(_ keys: String...) throws {
        for key in keys {
            var parameters = ["type": "keyDown", "key": key]
            if key.count == 1 { parameters["text"] = key }
            try call("Input.dispatchKeyEvent", parameters)
            try call("Input.dispatchKeyEvent", ["type": "keyUp", "key": key])
        }
        try settle()
    }

    /// Presses a key that enters no letter, together with Shift.
    func type(shift key: String) throws {
        try call("Input.dispatchKeyEvent", ["type": "keyDown", "key": key, "modifiers": 8])
        try call("Input.dispatchKeyEvent", ["type": "keyUp", "key": key, "modifiers": 8])
        try settle()
    }

    private func mouse(_ type: String, _ point: Point, _ more: [String: Any]) throws {
        let event: [String: Any] = ["type": type, "x": point.x, "y": point.y]
        try call("Input.dispatchMouseEvent", event.merging(more) { $1 })
    }

    static func quoted(_ text: String) -> String {
        var json = JSONText()
        json.value(text)
        return String(decoding: json.bytes, as: UTF8.self)
    }
}

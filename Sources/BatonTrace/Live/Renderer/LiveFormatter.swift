internal import Baton

/// Formats the numbers of a live view as text.
enum LiveFormatter {
    static func count(_ stage: LiveStage, knowsTotal: Bool) -> String {
        knowsTotal ? "\(stage.finished)/\(stage.total)" : "\(stage.finished)"
    }

    static func rate(_ perSecond: Double?) -> String {
        guard let perSecond else { return "" }
        switch perSecond {
        case 9.95...: return "\(rounded(perSecond))/s"
        case 0.1...: return "\(tenths(perSecond))/s"
        default: return "\(tenths(perSecond * 60))/min"
        }
    }

    static func timeLeft(_ stage: LiveStage, knowsTotal: Bool) -> String {
        if knowsTotal, stage.unfinished == 0 { return "" }
        guard knowsTotal, let time = stage.timeLeft else { return "? left" }
        return "\(duration(time, isRough: true)) left"
    }

    /// Returns a duration in seconds, minutes, hours or days. If `isRough` is true, seconds are rounded up to whole
    /// ones.
    static func duration(_ time: Duration, isRough: Bool = false) -> String {
        let exact = max(time, .zero) / .seconds(1)
        let seconds = Int(min(isRough ? exact.rounded(.up) : exact.rounded(), 1e12))
        if !isRough, exact < 9.95 { return "\(tenths(exact)) s" }
        if seconds < 60 { return "\(seconds) s" }
        if seconds < 3600 { return "\(seconds / 60):\(twoDigits(seconds % 60))" }
        if seconds < 100 * 3600 {
            return "\(seconds / 3600):\(twoDigits(seconds / 60 % 60)):\(twoDigits(seconds % 60))"
        }
        return "\(seconds / 86400) days"
    }

    /// Returns the numbers of operations by outcome and state. Numbers that are zero are left out, unless all are zero.
    static func counts(_ stage: LiveStage) -> String {
        let counts = [
            (stage.done, "done"), (stage.failed, "failed"), (stage.cancelled, "cancelled"), (stage.skipped, "skipped"),
            (stage.running, "running"), (stage.waiting, "waiting"),
        ]
        let nonzero = counts.filter { $0.0 > 0 }
        let text = nonzero.isEmpty ? "nothing" : nonzero.map { "\($0.0) \($0.1)" }.joined(separator: ", ")
        // The obstacles follow the number of waiting operations, which is last.
        let obstacles = obstacles(stage)
        return obstacles.isEmpty ? text : "\(text) \(obstacles)"
    }

    /// Returns the numbers of operations that wait for exclusions and rates, in parentheses. The text is empty if there
    /// are none.
    static func obstacles(_ stage: LiveStage) -> String {
        var parts: [String] = []
        switch stage.obstacle {
        case .exclusion(let name): parts.append("\(stage.excluded) for \(ExclusionText.phrase(for: name))")
        case .rate(let name): parts.append("\(stage.paced) for the rate \(name)")
        case nil:
            if stage.excluded > 0 { parts.append("\(stage.excluded) for exclusions") }
            if stage.paced > 0 { parts.append("\(stage.paced) for rates") }
        }
        return parts.isEmpty ? "" : "(\(parts.joined(separator: ", ")))"
    }

    static let suspension = "the queue is suspended"

    /// Returns the time from the first run to the last outcome; nil until an operation has started and one has
    /// finished.
    static func span(_ stage: LiveStage) -> String? {
        guard let begin = stage.begin, let end = stage.end else { return nil }
        return duration(end - begin)
    }

    private static func rounded(_ value: Double) -> Int { Int(min(value, 1e12).rounded()) }

    private static func tenths(_ value: Double) -> String {
        let tenths = rounded(value * 10)
        return "\(tenths / 10).\(tenths % 10)"
    }

    private static func twoDigits(_ value: Int) -> String { value < 10 ? "0\(value)" : "\(value)" }
}

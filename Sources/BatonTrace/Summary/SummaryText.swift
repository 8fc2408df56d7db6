import Baton

extension TraceSummary: CustomStringConvertible {
    /// A text of a few lines: the duration, the waits, the critical path, and what to speed up first.
    public var description: String {
        if operationCount == 0 { return "No operations." }
        var lines = ["\(Self.count(operationCount, "operation")) in \(duration.inShort): \(endings)."]
        if retryCount > 0 {
            lines.append("\(Self.count(retryCount, "failed attempt")) \(retryCount == 1 ? "was" : "were") retried.")
        }
        // The value is limited, because a decoded trace may contain any times.
        let average = Int(min(parallelism * 100, 1e9).rounded())
        lines.append(
            "Bodies ran for \(runningTime.inShort), \(average / 100).\(Self.twoDigits(average % 100)) at a time, "
                + "including what they waited for other operations.")
        // Even an operation that does not wait has a few microseconds between its events, so waits below a thousandth
        // of the longest are noise and not reported.
        if let longest = waits.first?.time {
            let parts = waits.filter { $0.time >= longest / 1000 }.map { "\($0.time.inShort) for \($0.reason.inWords)" }
            lines.append("Total waiting time: \(parts.joined(separator: ", ")).")
            if !namedWaits.isEmpty, namedWaits[0].time >= longest / 1000 { lines.append(names) }
        }
        if !levers.isEmpty {
            lines.append("Critical path, \(criticalPath)")
            if leadTime >= duration / 20 {
                lines.append("It begins \(leadTime.inShort) after the first event: add its first operation sooner.")
            }
            lines.append("What to speed up first:")
        }
        for (place, lever) in levers.prefix(5).enumerated() where place == 0 || lever.share >= 0.005 {
            lines.append("  \(place + 1). \(lever)")
        }
        return lines.joined(separator: "\n")
    }

    private var endings: String {
        let words: [(TracedOperation.Outcome, String)] = [
            (.success, "succeeded"), (.failure, "failed"), (.cancelled, "cancelled"), (.skipped, "skipped"),
        ]
        var parts = words.compactMap { outcome, word in
            outcomes[outcome].map { "\($0) \(word)" + (outcome == .failure ? notRun : "") }
        }
        if unfinishedCount > 0 { parts.append("\(unfinishedCount) unfinished") }
        return parts.joined(separator: ", ")
    }

    private var notRun: String {
        failedBeforeRunCount > 0 ? " (\(failedBeforeRunCount) of them without having run)" : ""
    }

    /// The exclusions and rates with the longest waits.
    private var names: String {
        var parts = namedWaits.prefix(3).map { "\($0.time.inShort) for \($0.reason.inWords($0.name ?? ""))" }
        let rest = namedWaits.count - parts.count
        if rest > 0 { parts.append("and \(rest) \(rest == 1 ? "other" : "others")") }
        return "Exclusions and rates: \(parts.joined(separator: ", "))."
    }

    private static func twoDigits(_ number: Int) -> String { number < 10 ? "0\(number)" : "\(number)" }

    fileprivate static func count(_ number: Int, _ noun: String) -> String {
        number == 1 ? "1 \(noun)" : "\(number) \(noun)s"
    }
}

extension CriticalPath: CustomStringConvertible {
    /// The duration, and the names of the first four and the last four operations on the path.
    public var description: String {
        if operations.isEmpty { return "no operations" }
        let names = operations.map(\.name.singleLine)
        let shown = names.count > 8 ? names.prefix(4) + ["… \(names.count - 8) more …"] + names.suffix(4) : names[...]
        return "\(duration.inShort): \(shown.joined(separator: " → "))"
    }
}

extension TraceSummary.Lever: CustomStringConvertible {
    /// The stage, its activity, the time, and the share of the critical path.
    public var description: String {
        let what =
            switch activity {
            case .running: "running"
            case .waiting(let reason): "waiting for \(reason.inWords)"
            }
        let percent = Int((share * 100).rounded())
        return "\(stage.quoted) \(what): \(time.inShort), \(percent) % of the path, "
            + "\(TraceSummary.count(operationCount, "operation"))"
    }
}

extension TracedWait.Reason {
    /// The words for the reason after "waiting for".
    var inWords: String {
        switch self {
        case .dependencies: "dependencies"
        case .delay: "a delay"
        case .conditions: "conditions"
        case .queue: "the queue"
        case .suspension: "the suspended queue"
        case .exclusion: "exclusions"
        case .rate: "rates"
        case .pause: "the next run"
        }
    }

    /// Returns the words for one exclusion or rate after "waiting for".
    func inWords(_ name: String) -> String {
        ExclusionText.isWidth(name) ? name.singleLine : "the \(rawValue) \(name.singleLine)"
    }
}

extension Duration {
    /// The duration rounded to at most three significant digits, in a suitable unit: "1.25 s", "310 ms", "42.0 µs",
    /// "7 ns". Seconds keep all digits before the point.
    var inShort: String {
        let nanoseconds = nanoseconds
        if nanoseconds < 0 { return "-" + (.zero - self).inShort }
        if nanoseconds < 1000 { return "\(nanoseconds) ns" }
        let units: [(size: Int64, name: String)] = [(1000, "µs"), (1_000_000, "ms"), (1_000_000_000, "s")]
        for (size, name) in units {
            for scale: Int64 in [100, 10, 1] {
                let step = size / scale
                let rounded = nanoseconds / step + (nanoseconds % step >= step / 2 ? 1 : 0)
                // Rounding may carry, so the number of digits is known only afterwards.
                if rounded < 1000 { return Self.text(rounded, scale: scale) + " " + name }
            }
        }
        return "\(nanoseconds / 1_000_000_000 + (nanoseconds % 1_000_000_000 >= 500_000_000 ? 1 : 0)) s"
    }

    /// Returns `number` divided by `scale`, which is 1, 10 or 100, as a decimal number.
    private static func text(_ number: Int64, scale: Int64) -> String {
        if scale == 1 { return "\(number)" }
        let rest = "\(number % scale)"
        let zeros = String(repeating: "0", count: (scale == 10 ? 1 : 2) - rest.count)
        return "\(number / scale).\(zeros)\(rest)"
    }
}

import Baton

extension Trace {
    /// Returns the trace as JSON in the Trace Event Format, for chrome://tracing, Perfetto, Speedscope and others.
    ///
    /// Each run is a slice (`X`, or `B` if it has not ended) in the first free lane, so slices in a lane do not
    /// overlap. Dependencies are arrows (`s`, `f`) from the end of the source's last run to the start of the
    /// dependent's first run. Operations that never ran are marks (`i`) in a lane of their own.
    ///
    /// Times are microseconds on the clock of the queue. Waits are among the arguments of the first run: each has its
    /// reason, its duration in microseconds, and the name of the exclusion or the rate. The format is described in
    /// Google's document "Trace Event Format".
    ///
    /// - Complexity: O(*n* log *n*), where *n* is the number of runs, dependencies and waits.
    public func chromeTrace() -> String { String(decoding: chromeTraceBytes(), as: UTF8.self) }

    func chromeTraceBytes() -> [UInt8] {
        var json = JSONText()
        ChromeTrace(of: self).write(to: &json)
        return json.bytes
    }
}

/// Writes the events of the Trace Event Format, one per line.
struct ChromeTrace {
    private static let neverRan = 0

    private let trace: Trace
    private let lanes: RunLanes
    private let process: Int
    /// The index in `lanes.runs` of the first run of each operation, by the operation's id.
    private var firstRun: [UInt64: Int] = [:]
    private var lastRun: [UInt64: Int] = [:]

    init(of trace: Trace) {
        self.trace = trace
        lanes = RunLanes(of: trace)
        process = Int(trace.queueNumber ?? 1)
        for (number, run) in lanes.runs.enumerated() {
            let id = trace.operations[run.place].id
            if firstRun[id] == nil { firstRun[id] = number }
            lastRun[id] = number
        }
    }

    func write(to json: inout JSONText) {
        json.object { json in
            json.key("displayTimeUnit")
            json.value("ms")
            json.key("traceEvents")
            json.array { json in
                writeNames(to: &json)
                for run in lanes.runs { write(run, to: &json) }
                for operation in trace.operations where firstRun[operation.id] == nil {
                    writeMark(of: operation, to: &json)
                }
                writeFlows(to: &json)
            }
        }
    }

    private func writeNames(to json: inout JSONText) {
        writeName("process_name", lane: Self.neverRan, trace.queueName ?? "queue \(process)", to: &json)
        if firstRun.count < trace.operations.count {
            writeName("thread_name", lane: Self.neverRan, "never ran", to: &json)
        }
        for lane in 0..<lanes.count { writeName("thread_name", lane: lane + 1, "lane \(lane + 1)", to: &json) }
    }

    private func writeName(_ kind: String, lane: Int, _ name: String, to json: inout JSONText) {
        json.object { json in
            writeHead("M", kind, lane: lane, at: 0, to: &json)
            json.key("args")
            json.object { json in
                json.key("name")
                json.value(name)
            }
        }
        json.newline()
    }

    private func write(_ run: RunLanes.Run, to json: inout JSONText) {
        let operation = trace.operations[run.place]
        json.object { json in
            writeHead(run.end == nil ? "B" : "X", operation.name, lane: run.lane + 1, at: run.start, to: &json)
            if let end = run.end {
                json.key("dur")
                json.microseconds(end - run.start)
            }
            json.key("cat")
            json.value(operation.status.rawValue)
            writeArguments(of: operation, attempt: run.attempt, to: &json)
        }
        json.newline()
    }

    private func writeMark(of operation: TracedOperation, to json: inout JSONText) {
        let time = operation.finished ?? operation.firstMoment ?? trace.end
        json.object { json in
            writeHead("i", operation.name, lane: Self.neverRan, at: time.nanoseconds, to: &json)
            json.key("s")
            json.value("t")
            json.key("cat")
            json.value(operation.status.rawValue)
            writeArguments(of: operation, attempt: 0, to: &json)
        }
        json.newline()
    }

    private func writeHead(_ phase: String, _ name: String, lane: Int, at time: Int64, to json: inout JSONText) {
        json.key("ph")
        json.value(phase)
        json.key("name")
        json.value(name)
        json.key("pid")
        json.value(process)
        json.key("tid")
        json.value(lane)
        json.key("ts")
        json.microseconds(time)
    }

    private func writeArguments(of operation: TracedOperation, attempt place: Int, to json: inout JSONText) {
        json.key("args")
        json.object { json in
            json.key("id")
            json.value(operation.id)
            let attempt = operation.attempts.indices.contains(place) ? operation.attempts[place] : nil
            if let attempt {
                json.key("attempt")
                json.value(attempt.number)
            }
            json.key("outcome")
            json.value(operation.status.rawValue)
            if let error = attempt?.error ?? operation.error {
                json.key("error")
                json.value(error)
            }
            if let cancel = operation.cancel {
                json.key("cancelled")
                json.value(cancel.reason)
            }
            if place > 0 { return }
            let waits = operation.waits(until: trace.end)
            if waits.isEmpty { return }
            json.key("waits")
            json.array { json in
                for wait in waits {
                    json.object { json in
                        json.key("for")
                        json.value(wait.reason.rawValue)
                        if let name = wait.name {
                            json.key("name")
                            json.value(name)
                        }
                        json.key("us")
                        json.microseconds(wait.duration.nanoseconds)
                    }
                }
            }
        }
    }

    private func writeFlows(to json: inout JSONText) {
        var number = 0
        for operation in trace.operations {
            guard let place = firstRun[operation.id] else { continue }
            let target = lanes.runs[place]
            for edge in operation.edges {
                guard let place = lastRun[edge.source.id], let end = lanes.runs[place].end else { continue }
                let source = lanes.runs[place]
                number += 1
                // An arrow belongs to the slice in which it begins, and a slice does not include its end. So the arrow
                // begins 1 ns before.
                writeFlow("s", number, lane: source.lane + 1, at: max(source.start, end - 1), to: &json)
                writeFlow("f", number, lane: target.lane + 1, at: target.start, to: &json)
            }
        }
    }

    private func writeFlow(_ phase: String, _ id: Int, lane: Int, at time: Int64, to json: inout JSONText) {
        json.object { json in
            writeHead(phase, "dependency", lane: lane, at: time, to: &json)
            json.key("cat")
            json.value("dependency")
            json.key("id")
            json.value(id)
            if phase == "f" {
                json.key("bp")
                json.value("e")
            }
        }
        json.newline()
    }
}

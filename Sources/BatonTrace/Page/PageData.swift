import Baton

/// The data of the timeline page: compact rows of numbers and texts. The page's script defines their layout.
///
/// Times are microseconds since the first moment of the trace. Long texts are cut and equal texts are written once, so
/// that the page stays small enough to be opened.
struct PageData {
    /// The number of characters after which a name is cut.
    static let nameLimit = 120
    /// The number of characters of all errors and reasons together. Further texts are left out.
    static let textLimit = 6_000_000
    /// The number of dependencies. Further ones are left out.
    static let edgeLimit = 1_000_000

    private let trace: Trace
    private let stage: (OperationReference) -> String
    private let origin: Int64
    private var places: [UInt64: Int] = [:]
    private var runs: [[RunLanes.Run]]
    private let laneCount: Int
    private var texts: [String] = []
    private var textPlaces: [String: Int] = [:]
    private var textSize = 0
    private var stages: [String] = []
    private var stagePlaces: [String: Int] = [:]
    private var edgeCount = 0

    init(of trace: Trace, stage: @escaping (OperationReference) -> String) {
        self.trace = trace
        self.stage = stage
        origin = trace.firstMoment.nanoseconds
        let lanes = RunLanes(of: trace)
        laneCount = lanes.count
        runs = Array(repeating: [], count: trace.operations.count)
        for run in lanes.runs { runs[run.place].append(run) }
        for (place, operation) in trace.operations.enumerated() { places[operation.id] = place }
    }

    /// Returns the JSON. It contains nothing that could end the script element around it.
    mutating func bytes() -> [UInt8] {
        let summary = trace.summary(stage: stage)
        let critical = Set(summary.criticalPath.operations.map(\.id))
        var json = JSONText()
        json.object { json in
            json.key("queue")
            json.value((trace.queueName ?? "").singleLine)
            json.key("end")
            json.microseconds(trace.end.nanoseconds - origin)
            json.key("lanes")
            json.value(laneCount)
            json.key("summary")
            json.value("\(summary)")
            json.key("path")
            json.array { json in
                for step in summary.criticalPath.steps { write(step, to: &json) }
            }
            json.key("suspensions")
            json.array { json in
                for suspension in trace.suspensions {
                    json.array { json in
                        json.microseconds(suspension.start.nanoseconds - origin)
                        json.microseconds((suspension.end ?? trace.end).nanoseconds - origin)
                    }
                }
            }
            json.key("operations")
            json.array { json in
                for place in trace.operations.indices {
                    write(place, isCritical: critical.contains(trace.operations[place].id), to: &json)
                }
            }
            json.key("stages")
            json.array { json in for stage in stages { json.value(Self.cut(stage.singleLine)) } }
            json.key("texts")
            json.array { json in for text in texts { json.value(text.cleanLines) } }
            json.key("edgesAreCut")
            json.value(edgeCount > Self.edgeLimit)
        }
        return json.bytes
    }

    private func write(_ step: CriticalPath.Step, to json: inout JSONText) {
        json.array { json in
            json.value(places[step.operation.id] ?? -1)
            json.microseconds(step.start.nanoseconds - origin)
            json.microseconds(step.end.nanoseconds - origin)
        }
    }

    private mutating func write(_ place: Int, isCritical: Bool, to json: inout JSONText) {
        let operation = trace.operations[place]
        let stage = stagePlace(of: stage(operation.reference))
        json.array { json in
            json.value(operation.id)
            json.value(Self.cut(operation.name.singleLine))
            json.value(stage)
            json.value(Graph.Status.allCases.firstIndex(of: operation.status) ?? 0)
            json.microseconds((operation.firstMoment?.nanoseconds ?? origin) - origin)
            writeTime(operation.finished, to: &json)
            json.array { json in
                for wait in operation.waits(until: trace.end) {
                    json.value(TracedWait.Reason.allCases.firstIndex(of: wait.reason) ?? 0)
                    json.microseconds(wait.start.nanoseconds - origin)
                    json.microseconds(wait.end.nanoseconds - origin)
                    json.value(textPlace(of: wait.name))
                }
            }
            json.array { json in
                for run in runs[place] {
                    json.value(run.lane)
                    json.microseconds(run.start - origin)
                    json.microseconds((run.end ?? trace.end.nanoseconds) - origin)
                    json.value(textPlace(of: operation.attempts[run.attempt].error))
                }
            }
            json.array { json in
                for edge in operation.edges {
                    guard let source = places[edge.source.id] else { continue }
                    edgeCount += 1
                    if edgeCount <= Self.edgeLimit { json.value(source) }
                }
            }
            json.value((operation.parent ?? operation.producer).flatMap { places[$0.id] } ?? -1)
            json.value(textPlace(of: operation.error))
            json.value(textPlace(of: operation.cancel?.reason))
            json.value(isCritical ? 1 : 0)
        }
        json.newline()
    }

    private func writeTime(_ time: Duration?, to json: inout JSONText) {
        if let time { json.microseconds(time.nanoseconds - origin) } else { json.null() }
    }

    private mutating func stagePlace(of stage: String) -> Int {
        if let place = stagePlaces[stage] { return place }
        stagePlaces[stage] = stages.count
        stages.append(stage)
        return stages.count - 1
    }

    /// Returns the index of a text, or -1 for nil.
    private mutating func textPlace(of text: String?) -> Int {
        guard let text else { return -1 }
        if let place = textPlaces[text] { return place }
        let isTooMuch = textSize + text.count > Self.textLimit
        if isTooMuch, let place = textPlaces["…"] { return place }
        textSize += text.count
        textPlaces[isTooMuch ? "…" : text] = texts.count
        texts.append(isTooMuch ? "…" : text)
        return texts.count - 1
    }

    private static func cut(_ name: String) -> String {
        guard let end = name.index(name.startIndex, offsetBy: nameLimit, limitedBy: name.endIndex), end < name.endIndex
        else { return name }
        return name[..<end] + "…"
    }
}

internal import BatonTrace
package import Foundation

extension BatchResult {
    /// Returns the result as JSON; see ``JSONReport``.
    package func json() throws -> Data {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
        return try encoder.encode(JSONReport(self))
    }
}

/// The JSON that `--json` prints. All times are in seconds.
struct JSONReport: Encodable {
    struct Picture: Encodable {
        var input: String
        var output: String?
        /// One of made, toMake, upToDate, duplicate, failed and cancelled.
        var outcome: String
        var error: String?
        var width: Int?
        var height: Int?
        var bytes: Int?
        /// The running time of each stage. All attempts of a stage count.
        var stages: [String: Double]
    }

    /// The time from the start of the first operation to the end of the last.
    var elapsed: Double
    var jobs: Int
    /// The total running time of the stages that process or decrypt pictures.
    var imageWork: Double
    var pictures: [Picture]

    init(_ result: BatchResult) {
        let times = result.stageTimes()
        let computing: Set<String> = Set([Stage.decrypting, .shifting, .saving, .picturing].map(\.rawValue))
        elapsed = result.trace.duration / .seconds(1)
        jobs = result.settings.jobs
        imageWork = times.values.flatMap { $0.filter { computing.contains($0.key) }.values }.reduce(0, +)
        pictures = result.pictures.map { Picture($0, stages: $0.operation.flatMap { times[$0] } ?? [:]) }
    }
}

extension JSONReport.Picture {
    init(_ picture: PictureResult, stages: [String: Double]) {
        self.init(
            input: picture.input, output: picture.output?.path, outcome: "\(picture.outcome.kind)", stages: stages)
        switch picture.outcome {
        case .made(let finished):
            (width, height) = (finished.saved.width, finished.saved.height)
            bytes = finished.saved.byteCount
        case .failed(let why): error = why
        case .toMake, .upToDate, .duplicate, .cancelled: break
        }
    }
}

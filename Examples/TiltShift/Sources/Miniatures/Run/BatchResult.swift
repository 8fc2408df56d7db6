internal import Baton
package import BatonTrace
package import Foundation

/// What became of one picture.
package struct PictureResult: Sendable {
    enum Outcome: Sendable {
        case made(FinishedPicture)
        case toMake
        case upToDate
        case duplicate
        case failed(String)
        case cancelled

        /// An outcome without its values, as it is counted.
        enum Kind: String, CaseIterable {
            case made
            case toMake = "to make"
            case upToDate = "up to date"
            case duplicate = "named twice"
            case failed
            case cancelled
        }

        var kind: Kind {
            switch self {
            case .made: .made
            case .toMake: .toMake
            case .upToDate: .upToDate
            case .duplicate: .duplicate
            case .failed: .failed
            case .cancelled: .cancelled
            }
        }
    }

    /// The file name of the picture.
    package let input: String
    /// Where its miniature is, or would be.
    package let output: URL?
    let outcome: Outcome
    /// The operation that made it, if there was one.
    var operation: UInt64?

    /// Whether there should be a miniature, and is none.
    package var hasFailed: Bool { outcome.kind == .failed }
}

/// What became of all of them.
package struct BatchResult: Sendable {
    /// In the order in which they were named, after what was named and has none.
    package let pictures: [PictureResult]
    /// What happened.
    package let trace: Trace
    let settings: Settings

    /// Whether one failed.
    package var hasFailures: Bool { pictures.contains(where: \.hasFailed) }
    /// Whether one was cancelled.
    package var wasCancelled: Bool { pictures.contains { $0.outcome.kind == .cancelled } }

    /// How long the stages of each picture ran, in seconds, waits not included.
    func stageTimes() -> [UInt64: [String: Double]] {
        var times: [UInt64: [String: Double]] = [:]
        for operation in trace.operations {
            guard let parent = operation.parent?.id else { continue }
            times[parent, default: [:]][Stage.name(of: operation.reference), default: 0] +=
                operation.runningTime(until: trace.end) / .seconds(1)
        }
        return times
    }
}

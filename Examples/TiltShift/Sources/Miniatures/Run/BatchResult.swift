internal import Baton
package import BatonTrace
package import Foundation

/// The result of one picture.
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
    /// The file of the miniature, which may not exist.
    package let output: URL?
    let outcome: Outcome
    /// The operation that made it, if there was one.
    var operation: UInt64?

    /// True if the miniature could not be made.
    package var hasFailed: Bool { outcome.kind == .failed }
}

/// The results of all pictures.
package struct BatchResult: Sendable {
    /// The results in the order in which the pictures were named, after the arguments that have no pictures.
    package let pictures: [PictureResult]
    /// The trace of the run.
    package let trace: Trace
    let settings: Settings

    /// True if a picture failed.
    package var hasFailures: Bool { pictures.contains(where: \.hasFailed) }
    /// True if a picture was cancelled.
    package var wasCancelled: Bool { pictures.contains { $0.outcome.kind == .cancelled } }

    /// Returns the running times of the stages of each picture, in seconds, without waits.
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

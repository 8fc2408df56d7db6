internal import BatonTrace
internal import Foundation

extension PictureResult {
    /// The outcome in one line.
    package var line: String {
        switch outcome {
        case .made(let picture):
            let saved = picture.saved
            let size = "\(saved.width) × \(saved.height), \((saved.byteCount + 1023) / 1024) kB"
            return "\(input) → \(saved.file.relativePath) (\(size))"
        case .toMake: return "\(input) → \(output?.relativePath ?? "")"
        case .upToDate: return "\(input): is up to date"
        case .duplicate: return "\(input): was named twice, and is done once"
        case .failed(let why): return "\(input): \(why)"
        case .cancelled: return "\(input): cancelled"
        }
    }
}

extension BatchResult {
    /// The number of pictures for each outcome, and the elapsed time.
    package var closingLine: String {
        let counts = PictureResult.Outcome.Kind.allCases.compactMap { kind in
            let count = pictures.count { $0.outcome.kind == kind }
            return count == 0 ? nil : "\(count) \(kind.rawValue)"
        }
        let seconds = String(format: "%.1f", trace.duration / .seconds(1))
        return "\(counts.isEmpty ? "nothing to do" : counts.joined(separator: ", ")), in \(seconds) s"
    }
}

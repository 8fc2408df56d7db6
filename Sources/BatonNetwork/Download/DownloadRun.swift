internal import Baton
internal import Foundation

#if canImport(FoundationNetworking)
    internal import FoundationNetworking
#endif

/// One run of a download, which holds the lock of its partial file.
struct DownloadRun: Sendable {
    private let download: HTTPDownload
    private let partial: PartialFile
    private let time: TimeSource
    private let progress: ProgressReporter
    /// The ``PartialFile/Origin/mark(of:)`` of the request's URL.
    private let address: String

    init(_ download: HTTPDownload, _ partial: PartialFile, _ time: TimeSource, _ progress: ProgressReporter) {
        self.download = download
        self.partial = partial
        self.time = time
        self.progress = progress
        address = download.options.request.url.map { PartialFile.Origin.mark(of: $0) } ?? ""
    }

    /// The range that the user's own request asks for, or nil if it has none.
    private var wanted: RequestedRange? {
        download.options.request.value(forHTTPHeaderField: "Range").map { RequestedRange($0) }
    }

    func run() async throws -> DownloadedFile {
        try await HTTPCall(options: download.options, time: time).withinDeadline { try await downloadFile() }
    }

    private func downloadFile() async throws -> DownloadedFile {
        let start = try usableCount()
        if let file = try await ask(from: start) { return file }
        // The partial file could not be continued.
        try partial.restart(nil)
        if let file = try await ask(from: 0) { return file }
        throw HTTPError(.unexpectedPart(nil), download.options.request)
    }

    /// Returns the number of bytes of an earlier run that this run can continue.
    private func usableCount() throws -> Int64 {
        let count = try partial.count
        guard download.mayResume, let origin = partial.origin, origin.url == address, count > 0,
            count <= origin.length ?? .max
        else {
            if count > 0 { try partial.restart(nil) }
            return 0
        }
        return count
    }

    /// Sends the request. Returns nil if it has to be sent again, for the whole file.
    private func ask(from start: Int64) async throws -> DownloadedFile? {
        var options = download.options
        let origin = start > 0 ? partial.origin : nil
        // With a content encoding, the length would be unknown, and so would the offset at which to continue.
        if options.request.value(forHTTPHeaderField: "Accept-Encoding") == nil {
            options.request.setValue("identity", forHTTPHeaderField: "Accept-Encoding")
        }
        if let origin {
            options.request.setValue("bytes=\(start)-", forHTTPHeaderField: "Range")
            options.request.setValue(origin.validator, forHTTPHeaderField: "If-Range")
        }
        let (request, validation) = (options.request, options.validation)
        return try await HTTPCall(options: options, time: time).send { answer in
            let plan = DownloadPlan(answer.head, start: start, origin: origin, wanted: wanted)
            switch plan {
            case .append(let total):
                return try await receive(answer, from: start, total: total)
            case .replace:
                try await validation.check(answer, of: request)
                try partial.restart(download.mayResume ? PartialFile.Origin(answer.head, url: address) : nil)
                return try await receive(answer, from: 0, total: answer.head.partLength ?? answer.head.contentLength)
            case .complete:
                return try finish(answer.head, count: start, resumedFrom: start)
            case .startOver: return nil
            case .rejectPart:
                throw HTTPError(.unexpectedPart(answer.head.headers["Content-Range"]), request, after: answer.head)
            case .rejectStatus:
                try await validation.check(answer, of: request)
                throw HTTPError(.refused(await ResponseValidation.refusal(answer)), request, after: answer.head)
            }
        }
    }

    private func receive(_ answer: HTTPAnswer, from start: Int64, total: Int64?) async throws -> DownloadedFile {
        let partLength = answer.head.partLength
        var count = start
        report(count, of: total)
        for try await piece in answer.body {
            if let partLength, count - start + Int64(piece.count) > partLength {
                // Nothing says which of the bytes belong to the part, so the next run starts over.
                try partial.restart(nil)
                let problem = "its content is longer than the \(partLength) bytes of its Content-Range"
                throw HTTPError(.invalidAnswer(problem), download.options.request, after: answer.head)
            }
            try partial.file.write(piece)
            count += Int64(piece.count)
            report(count, of: total)
        }
        if let total, count != total {
            throw HTTPError(
                .bodyTooShort(received: count, promised: total), download.options.request, after: answer.head)
        }
        return try finish(answer.head, count: count, resumedFrom: start)
    }

    private func finish(_ head: HTTPHead, count: Int64, resumedFrom start: Int64) throws -> DownloadedFile {
        try Task.checkCancellation()
        try partial.finish(synchronizing: download.synchronizes)
        return DownloadedFile(file: download.file, byteCount: count, resumedFrom: start, head: head)
    }

    private func report(_ count: Int64, of total: Int64?) {
        progress.report(completed: Int(clamping: count), of: total.map(Int.init(clamping:)))
    }
}

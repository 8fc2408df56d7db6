public import Baton
public import Foundation

#if canImport(FoundationNetworking)
    public import FoundationNetworking
#endif

/// Downloads to a file, which appears under its name when it is complete, and never before.
///
/// ```swift
/// let picture = AsyncOperation(HTTPDownload(url, to: file)).retryHTTP(attempts: 5)
/// ```
///
/// Each piece goes to the disk as it comes, so that a file of any size takes little memory. Until the file is complete
/// it has a hidden name beside the target, `.NAME.partial`.
///
/// If a GET ends before, that file stays (unless it is gone, or cannot be written), with a note of what it is the
/// beginning of, `.NAME.origin`. The next run, of a retry or of a later operation, asks for the rest only, and goes on
/// if the answer repeats the strong validator of the first one: an `ETag`, or a `Last-Modified` that is a second older
/// than its `Date` (RFC 9110, 15.3.7.3). If the server cannot do that, the next run starts over, as every run of
/// another method does. The note has nothing of user, password and query but a hash.
///
/// A request with a `Range` of its own gets that part as the whole file. An answer of 206 with another part is
/// ``HTTPError/Reason/unexpectedPart(_:)``; a server that does not know ranges answers 200 and sends everything.
///
/// A link, or what is no plain file, in place of the hidden file is an error, ``HTTPError/FileProblem/notPlain``, and
/// is not touched; nor is a device or a pipe in place of the target, ``HTTPError/FileProblem/isDevice``. A file that is
/// there already is replaced, and the new one has its rights; what a link leads to is replaced, and not the link.
///
/// The progress counts bytes, those included that an earlier run has brought. A status other than 200 to 299 is an
/// error whatever the validation says. It throws ``HTTPError``; two downloads to one file at the same time are one: the
/// second fails.
public struct HTTPDownload: HTTPProcedure {
    /// How it is sent and judged.
    public var options: HTTPOptions
    /// Where the file is to be. Its folder must be there.
    public let file: URL
    /// Whether it goes on where an earlier run stopped.
    public var resumes = true
    /// Whether it returns only when the disk has it, so that the file survives a loss of power.
    public var synchronizes = false

    /// Downloads what is at an address.
    public init(_ url: URL, to file: URL) { self.init(URLRequest(url: url), to: file) }

    /// Downloads what the request asks for.
    public init(_ request: URLRequest, to file: URL) {
        options = HTTPOptions(request)
        self.file = file
    }

    /// Downloads what is at an address; a bad one is found when this is run.
    public init(_ address: String, to file: URL) {
        options = HTTPOptions(address)
        self.file = file
    }

    /// Sets whether it goes on where an earlier run stopped.
    public func resuming(_ resumes: Bool) -> HTTPDownload {
        var copy = self
        copy.resumes = resumes
        return copy
    }

    /// Sets whether it returns only when the disk has it.
    public func synchronizing(_ synchronizes: Bool = true) -> HTTPDownload {
        var copy = self
        copy.synchronizes = synchronizes
        return copy
    }

    /// Downloads the file, or the rest of it.
    public func execute(in context: OperationContext) async throws -> DownloadedFile {
        try HTTPCall(options: options).check()
        if options.request.httpMethod?.uppercased() == "HEAD" {
            throw HTTPError(.invalidRequest("a HEAD has no body that could be downloaded"), options.request)
        }
        if !file.isFileURL {
            let problem = "‘\(file.withoutSecrets)’, where the download is to be put, is no file"
            throw HTTPError(.invalidRequest(problem), options.request)
        }
        let partial = try openPartial()
        defer { partial.close() }
        do {
            return try await DownloadRun(self, partial, context.progress).run()
        } catch {
            let kept = partial.origin != nil && mayResume && Self.leavesWhatIsThere(error)
            if !kept { partial.discard() }
            throw (error as? FileError).map { HTTPError($0, options.request, isSent: true) } ?? error
        }
    }

    private func openPartial() throws -> PartialFile {
        if let hindrance = File.hindrance(at: file.path) {
            throw HTTPError(.file(hindrance, path: file.path), options.request)
        }
        do throws(FileError) {
            if let partial = try PartialFile.open(for: file) { return partial }
        } catch {
            throw HTTPError(error, options.request, isSent: false)
        }
        throw HTTPError(.file(.inUse, path: file.path), options.request)
    }

    /// Whether an earlier run can be built upon, or a later one upon this. A request that is not known to be safe is
    /// sent once, and as it is.
    var mayResume: Bool {
        let request = options.request
        return resumes && ["GET", nil].contains(request.httpMethod?.uppercased())
            && request.value(forHTTPHeaderField: "Range") == nil
    }

    /// Most errors say nothing of the bytes that have come. A part of nothing is worth nothing.
    private static func leavesWhatIsThere(_ error: any Error) -> Bool {
        if error is CancellationError { return true }
        guard let error = error as? HTTPError else { return false }
        return switch error.reason {
        case .refused(let refusal): ![404, 410].contains(refusal.status)
        case .unexpectedPart, .file: false
        default: true
        }
    }
}

/// A file that has been downloaded.
public struct DownloadedFile: Sendable, Hashable {
    /// Where it is.
    public let file: URL
    /// How many bytes it has.
    public let byteCount: Int64
    /// How many of them an earlier run had brought.
    public let resumedFrom: Int64
    /// Status and headers of the last answer.
    public let head: HTTPHead
}

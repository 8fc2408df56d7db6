public import Baton
public import Foundation

#if canImport(FoundationNetworking)
    public import FoundationNetworking
#endif

/// Downloads to a file, which appears under its name only when it is complete.
///
/// ```swift
/// let picture = AsyncOperation(HTTPDownload(url, to: file)).retryHTTP(attempts: 5)
/// ```
///
/// Each piece is written to the file as it arrives, so a file of any size takes little memory. Until it is complete,
/// the file has the hidden name `.NAME.partial`, in the folder of the target.
///
/// If a GET ends early, the partial file stays, with a note of its origin in `.NAME.origin`, unless the server answers
/// 404 or 410 or a local file cannot be used. The next run, of a retry or of a later operation, requests only the rest.
/// It continues the file if the response repeats the strong validator of the first response: an `ETag`, or a
/// `Last-Modified` that is at least a second older than its `Date` (RFC 9110, 15.3.7.3). If the server does not support
/// that, or the method is not GET, the next run starts over. The note contains the user, the password and the query of
/// the URL only as a hash.
///
/// A request with its own `Range` gets that part as the whole file. A response of status 206 with another part is
/// ``HTTPError/Reason/unexpectedPart(_:)``. A server that does not support ranges answers 200 and sends the whole file.
///
/// An existing file is replaced, and the new file takes over its permissions. If the target is a symbolic link, the
/// file that it leads to is replaced, and the link stays. If the target is a device, a pipe, or an open file of a
/// process such as `/dev/stdout`, the download fails with ``HTTPError/FileProblem/isDevice``. If `.NAME.partial` is a
/// link or anything other than a plain file, or `.NAME.origin` is a folder, it fails with
/// ``HTTPError/FileProblem/notPlain``. It touches none of these. If anything else has the name `.NAME.origin`, the
/// note replaces it; what a link there leads to stays as it is.
///
/// The progress counts bytes, including those of earlier runs. A status outside 200 to 299 is an error whatever the
/// validation says. If two downloads write to one file at the same time, the second one fails with
/// ``HTTPError/FileProblem/inUse``.
public struct HTTPDownload: HTTPProcedure {
    /// Options that say how the request is sent and how its response is validated.
    public var options: HTTPOptions
    /// The target of the download. Its folder must exist.
    public let file: URL
    /// A Boolean value that indicates whether the download continues the partial file of an earlier run.
    public var resumes = true
    /// A Boolean value that indicates whether the operation finishes only after the file has been synchronized to disk,
    /// so that it survives a power failure.
    public var synchronizes = false

    /// Downloads from a URL.
    ///
    /// - Parameters:
    ///   - url: The URL, with the scheme http or https.
    ///   - file: The location of the finished file. A file that exists there is replaced.
    public init(_ url: URL, to file: URL) { self.init(URLRequest(url: url), to: file) }

    /// Downloads the response to a request.
    ///
    /// - Parameters:
    ///   - request: The request.
    ///   - file: The location of the finished file. A file that exists there is replaced.
    public init(_ request: URLRequest, to file: URL) {
        options = HTTPOptions(request)
        self.file = file
    }

    /// Downloads from the URL that a string contains. An invalid string is an error of the run.
    ///
    /// - Parameters:
    ///   - address: The text of a URL with the scheme http or https.
    ///   - file: The location of the finished file. A file that exists there is replaced.
    public init(_ address: String, to file: URL) {
        options = HTTPOptions(address)
        self.file = file
    }

    /// Sets whether the download continues the partial file of an earlier run.
    ///
    /// - Parameter resumes: If false, each run starts over.
    /// - Returns: A changed copy.
    public func resuming(_ resumes: Bool) -> HTTPDownload {
        var copy = self
        copy.resumes = resumes
        return copy
    }

    /// Sets whether the operation finishes only after the file has been synchronized to disk.
    ///
    /// - Parameter synchronizes: If true, a completed download survives a power failure.
    /// - Returns: A changed copy.
    public func synchronizing(_ synchronizes: Bool = true) -> HTTPDownload {
        var copy = self
        copy.synchronizes = synchronizes
        return copy
    }

    /// Downloads the file, or the rest of it.
    ///
    /// - Parameter context: The context of the running operation.
    /// - Returns: The location of the file and the head of the response.
    /// - Throws: ``HTTPError``; `CancellationError` after a cancellation.
    public func execute(in context: OperationContext) async throws -> DownloadedFile {
        let time = options.time(in: context)
        try HTTPCall(options: options, time: time).check()
        if options.request.httpMethod?.uppercased() == "HEAD" {
            throw HTTPError(.invalidRequest("a HEAD has no body that could be downloaded"), options.request)
        }
        if !file.isFileURL {
            let problem = "‘\(file.withoutSecrets)’, where the download is to be put, is not a file"
            throw HTTPError(.invalidRequest(problem), options.request)
        }
        let partial = try openPartial()
        defer { partial.close() }
        do {
            return try await DownloadRun(self, partial, time, context.progress).run()
        } catch {
            let kept = partial.origin != nil && mayResume && Self.leavesWhatIsThere(error)
            if !kept { partial.discard() }
            throw (error as? FileError).map { HTTPError($0, options.request, isSent: true) } ?? error
        }
    }

    private func openPartial() throws -> PartialFile {
        if let problem = File.problem(at: file.path) {
            throw HTTPError(.file(problem, path: file.path), options.request)
        }
        do throws(FileError) {
            if let partial = try PartialFile.open(for: file) { return partial }
        } catch {
            throw HTTPError(error, options.request, isSent: false)
        }
        throw HTTPError(.file(.inUse, path: file.path), options.request)
    }

    /// A Boolean value that indicates whether this run may continue an earlier one, and a later one may continue this.
    /// Only a GET qualifies, because it is known to be safe, and only one without a range of its own.
    var mayResume: Bool {
        let request = options.request
        return resumes && ["GET", nil].contains(request.httpMethod?.uppercased())
            && request.value(forHTTPHeaderField: "Range") == nil
    }

    /// Returns whether the partial file is worth keeping after an error. Most errors do not concern the bytes that have
    /// arrived. A 404 or 410 says that the file no longer exists.
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
    /// The location of the file.
    public let file: URL
    /// The number of bytes of the file.
    public let byteCount: Int64
    /// The number of bytes that earlier runs had downloaded.
    public let resumedFrom: Int64
    /// The head of the last response.
    public let head: HTTPHead
}

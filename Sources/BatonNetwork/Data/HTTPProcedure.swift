public import Baton

#if canImport(FoundationNetworking)
    internal import Foundation
    public import FoundationNetworking
#else
    public import Foundation
#endif

/// What ``HTTPData``, ``HTTPDownload`` and ``HTTPUpload`` have in common: a request, and how it is sent and judged.
///
/// ```swift
/// HTTPData(url).header("Accept", "application/json").validation(.status(200)).deadline(.seconds(10))
/// ```
///
/// They are values: each of these methods returns a changed copy.
public protocol HTTPProcedure: Procedure {
    /// How it is sent and judged.
    var options: HTTPOptions { get set }
}

/// How a request is sent and its answer judged.
public struct HTTPOptions: Sendable {
    /// What is asked for; its URL may be bad, which is found when it is run.
    public var request: URLRequest
    /// What sends it.
    public var transport: any HTTPTransport = .shared
    /// Which answers are good ones.
    public var validation = ResponseValidation.success
    /// Which redirects are followed.
    public var redirects = RedirectPolicy.follow
    /// How long one run may take in all, the body included. Nil: as long as something comes.
    public var deadline: Duration?
    /// What the deadline is measured by.
    public var clock: any Clock<Duration> = ContinuousClock()
    /// What was given in place of an address.
    var invalidAddress: String?
    /// Header fields that were set to what cannot be sent, and which Foundation would leave out, with what is wrong
    /// with each.
    var invalidFields: [String: String] = [:]

    /// Those of a request.
    public init(_ request: URLRequest) { self.request = request }

    /// Those of a GET. An address that is none is found when the procedure is run.
    public init(_ address: String) {
        if let url = URL(address: address) {
            self.init(URLRequest(url: url))
        } else {
            self.init(URLRequest(url: URL(fileURLWithPath: "/")))
            invalidAddress = address
        }
    }
}

extension HTTPProcedure {
    /// Sets a header field of the request. Nil takes it away.
    ///
    /// A name or a value that cannot be sent, for example one with a line end in it, is found when the procedure is
    /// run: ``HTTPError/Reason/invalidRequest(_:)``.
    public func header(_ name: String, _ value: String?) -> Self {
        changed {
            $0.invalidFields[name.lowercased()] = value.flatMap { HTTPHeaders.problem(name, $0) }
            $0.request.setValue(value, forHTTPHeaderField: name)
        }
    }

    /// Sets the method of the request: POST, DELETE, …
    public func method(_ method: String) -> Self { changed { $0.request.httpMethod = method } }

    /// Fails with ``HTTPError/Reason/timedOut(after:)`` when nothing comes or goes for so long. It is a minute
    /// otherwise.
    public func timeout(_ limit: Duration) -> Self {
        changed { $0.request.timeoutInterval = min(max(limit, .milliseconds(1)), .longest) / .seconds(1) }
    }

    /// Fails with ``HTTPError/Reason/deadlineExceeded(after:)`` when one run takes longer than `limit`, the body
    /// included.
    ///
    /// Each attempt of a retry has that long. URLSession's own limit for this is not enforced on Linux.
    ///
    /// - Parameters:
    ///   - limit: How long one run may take; nil for as long as it likes.
    ///   - clock: What measures it: that of a test, for example.
    public func deadline(_ limit: Duration?, clock: any Clock<Duration> = ContinuousClock()) -> Self {
        changed {
            $0.deadline = limit
            $0.clock = clock
        }
    }

    /// Sets which answers are good ones: a status from 200 to 299 otherwise.
    public func validation(_ validation: ResponseValidation) -> Self { changed { $0.validation = validation } }

    /// Sets which redirects are followed: 16 otherwise, and none from https to http.
    public func redirects(_ policy: RedirectPolicy) -> Self { changed { $0.redirects = policy } }

    /// Sets what sends the request: ``HTTPTransport/shared`` otherwise.
    public func transport(_ transport: any HTTPTransport) -> Self { changed { $0.transport = transport } }

    private func changed(_ change: (inout HTTPOptions) -> Void) -> Self {
        var copy = self
        change(&copy.options)
        return copy
    }
}

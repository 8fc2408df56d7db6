public import Baton

#if canImport(FoundationNetworking)
    internal import Foundation
    public import FoundationNetworking
#else
    public import Foundation
#endif

/// A procedure that sends an HTTP request: ``HTTPData``, ``HTTPDownload`` or ``HTTPUpload``.
///
/// ```swift
/// HTTPData(url).header("Accept", "application/json").validation(.status(200)).deadline(.seconds(10))
/// ```
///
/// These procedures are values: each of the methods that set an option returns a changed copy.
public protocol HTTPProcedure: Procedure {
    /// Options that say how the request is sent and how its response is validated.
    var options: HTTPOptions { get set }
}

/// Options that say how a request is sent and how its response is validated.
public struct HTTPOptions: Sendable {
    /// The request. An invalid URL is an error of the run.
    public var request: URLRequest
    /// The transport that sends the request.
    public var transport: any HTTPTransport = .shared
    /// The responses that are accepted.
    public var validation = ResponseValidation.success
    /// The redirects that are followed.
    public var redirects = RedirectPolicy.follow
    /// The longest time of one run, including the body of the response. If nil, a run takes as long as bytes arrive.
    public var deadline: Duration?
    /// The clock that measures the deadline and the idle limit. If nil, the clock of the operation's queue does.
    ///
    /// ``URLSessionTransport`` measures the idle limit with the system's clock, whatever this says.
    public var clock: (any Clock<Duration>)?
    /// The string that was given as a URL, if it is not a valid one.
    var invalidAddress: String?
    /// The string that was given as a URL, for errors: the URL of the request has escapes in it.
    private var address: String?
    /// The header fields that were set to values that cannot be sent, with the reason for each. They are kept here
    /// because Foundation would drop them silently.
    var invalidFields: [String: String] = [:]

    /// Creates the default options for a request.
    ///
    /// - Parameter request: The request.
    public init(_ request: URLRequest) { self.request = request }

    /// Creates the default options for a GET.
    ///
    /// - Parameter address: The URL as a string. An invalid string is an error of the run.
    public init(_ address: String) {
        if let url = URL(address: address) {
            self.init(URLRequest(url: url))
            self.address = address
        } else {
            self.init(URLRequest(url: URL(fileURLWithPath: "/")))
            invalidAddress = address
        }
    }
}

extension HTTPOptions {
    /// The URL of the request as it was given.
    var givenURL: String {
        if let address, URL(address: address) == request.url { return address }
        return request.url?.absoluteString ?? ""
    }

    /// Returns the time by which a run in this context is measured.
    func time(in context: OperationContext) -> TimeSource {
        guard let clock else { return context.clock.time }
        return (clock as? OperationClock)?.time ?? TimeSource(clock)
    }
}

extension HTTPProcedure {
    /// Sets a header field of the request.
    ///
    /// If the name or the value cannot be sent, for example because it contains a line end, the run fails with
    /// ``HTTPError/Reason/invalidRequest(_:)``.
    ///
    /// - Parameters:
    ///   - name: The name of the field.
    ///   - value: The value that replaces the present one. Nil removes the field.
    /// - Returns: A changed copy.
    public func header(_ name: String, _ value: String?) -> Self {
        changed {
            $0.invalidFields[name.lowercased()] = value.flatMap { HTTPHeaders.problem(name, $0) }
            $0.request.setValue(value, forHTTPHeaderField: name)
        }
    }

    /// Sets the method of the request: POST, DELETE, …
    ///
    /// - Parameter method: The method.
    /// - Returns: A changed copy.
    public func method(_ method: String) -> Self { changed { $0.request.httpMethod = method } }

    /// Sets the longest time during which no byte arrives or is sent: 60 seconds by default.
    ///
    /// When this time is over, the run fails with ``HTTPError/Reason/timedOut(after:)``. The clock of the operation's
    /// queue measures it, unless ``HTTPOptions/clock`` names another one.
    ///
    /// - Parameter limit: The longest time. Less than a millisecond counts as one.
    /// - Returns: A changed copy.
    public func timeout(_ limit: Duration) -> Self {
        changed { $0.request.timeoutInterval = min(max(limit, .milliseconds(1)), .longest) / .seconds(1) }
    }

    /// Sets the longest time of one run, including the body of the response: no limit by default.
    ///
    /// When this time is over, the run fails with ``HTTPError/Reason/deadlineExceeded(after:)``. The time includes
    /// redirects, and the second request of a download that starts over. Each attempt of a retry has the whole time.
    /// URLSession's own limit of this kind is not enforced on Linux.
    ///
    /// - Parameters:
    ///   - limit: The longest time of one run, or nil for no limit.
    ///   - clock: The clock that measures this time and that of ``timeout(_:)``, for example that of a test. If nil,
    ///     the clock of the operation's queue does.
    /// - Returns: A changed copy.
    public func deadline(_ limit: Duration?, clock: (any Clock<Duration>)? = nil) -> Self {
        changed {
            $0.deadline = limit
            $0.clock = clock
        }
    }

    /// Sets the responses that are accepted: those with a status from 200 to 299 by default.
    ///
    /// - Parameter validation: The validation.
    /// - Returns: A changed copy.
    public func validation(_ validation: ResponseValidation) -> Self { changed { $0.validation = validation } }

    /// Sets the redirects that are followed: up to 16 by default, and none from https to http.
    ///
    /// - Parameter policy: The policy.
    /// - Returns: A changed copy.
    public func redirects(_ policy: RedirectPolicy) -> Self { changed { $0.redirects = policy } }

    /// Sets the transport that sends the request: ``HTTPTransport/shared`` by default.
    ///
    /// - Parameter transport: The transport.
    /// - Returns: A changed copy.
    public func transport(_ transport: any HTTPTransport) -> Self { changed { $0.transport = transport } }

    private func changed(_ change: (inout HTTPOptions) -> Void) -> Self {
        var copy = self
        change(&copy.options)
        return copy
    }
}

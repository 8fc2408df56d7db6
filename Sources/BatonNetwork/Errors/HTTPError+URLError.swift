internal import Foundation

#if canImport(FoundationNetworking)
    internal import FoundationNetworking
#endif

extension HTTPError {
    /// Creates the error for an error of URLSession.
    init(_ error: any Error, _ request: URLRequest) {
        guard let error = error as? URLError else {
            let error = error as NSError
            self.init(.other(code: error.code, error.localizedDescription), request)
            return
        }
        self.init(Reason(error, idleLimit: request.idleLimit), request)
    }

    /// Returns whether the connection broke: with an error that says so, which is ‘unknown’ for URLSession on Linux, or
    /// without an error, when the server has closed the connection before the end of the body.
    static func isBrokenConnection(_ error: (any Error)?, _ request: URLRequest) -> Bool {
        guard let error else { return true }
        return error is URLError && HTTPError(error, request).reason == .connectionBroken
    }
}

extension HTTPError.Reason {
    fileprivate init(_ error: URLError, idleLimit: Duration) {
        switch error.code {
        case .badURL: self = .invalidURL(error.failingAddress)
        // The request had the scheme http or https, so the response was not HTTP.
        case .unsupportedURL: self = .invalidAnswer("not HTTP")
        case .cannotDecodeRawData, .cannotDecodeContentData: self = .invalidAnswer(error.localizedDescription)
        case .unknown where error.isAboutContentEncoding: self = .invalidAnswer(error.localizedDescription)
        case .cannotFindHost, .dnsLookupFailed: self = .hostNotFound
        case .cannotConnectToHost: self = .connectionRefused
        case .unknown where error.isAboutTLS: self = .insecureConnection(error.localizedDescription)
        case .timedOut: self = .timedOut(after: idleLimit)
        case .networkConnectionLost, .notConnectedToInternet, .unknown, .badServerResponse: self = .connectionBroken
        case .httpTooManyRedirects: self = .tooManyRedirects
        case .secureConnectionFailed, .serverCertificateHasBadDate, .serverCertificateUntrusted,
            .serverCertificateHasUnknownRoot, .serverCertificateNotYetValid, .clientCertificateRejected,
            .clientCertificateRequired:
            self = .insecureConnection(error.localizedDescription)
        default: self = .other(code: error.code.rawValue, error.localizedDescription)
        }
    }
}

extension URLError {
    /// A Boolean value that indicates whether the error concerns TLS. On Linux, only libcurl's text says so. A TLS
    /// connection that breaks counts as a broken connection instead.
    fileprivate var isAboutTLS: Bool {
        let text = localizedDescription
        return ["SSL routines", "certificate", "handshake"].contains { text.contains($0) }
            && !text.contains("unexpected eof")
    }

    /// A Boolean value that indicates whether the error concerns the content encoding. On Linux, only libcurl's text
    /// says so.
    fileprivate var isAboutContentEncoding: Bool {
        ["content encoding", "content unencoding"].contains { localizedDescription.contains($0) }
    }

    fileprivate var failingAddress: String { failingURL?.withoutSecrets ?? "" }
}

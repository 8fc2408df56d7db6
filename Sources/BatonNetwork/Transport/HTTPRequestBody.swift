public import Foundation

/// The body of a request.
@nonexhaustive
public enum HTTPRequestBody: Sendable {
    /// The given bytes.
    case data(Data)
    /// The content of a file, which is read while it is sent.
    case file(URL)
    /// Bytes that are produced while they are sent.
    case stream(HTTPBodyStream)
}

extension HTTPRequestBody {
    var stream: HTTPBodyStream? {
        if case .stream(let stream) = self { return stream }
        return nil
    }
}

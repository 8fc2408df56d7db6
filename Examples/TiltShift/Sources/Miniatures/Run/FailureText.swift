internal import Baton
internal import BatonNetwork

/// Describes in one line why a picture failed.
enum FailureText {
    static func line(_ error: OperationError) -> String {
        let text =
            switch error.underlyingError {
            case let error as HTTPError: "\(short(error.reason))"
            case let cause?: "\(cause)"
            case nil: "\(error)"
            }
        return text.split(whereSeparator: \.isNewline).joined(separator: " ")
    }

    /// Describes a reason without the text of the response, which is meant for people.
    private static func short(_ reason: HTTPError.Reason) -> String {
        switch reason {
        case .refused(let refusal): "the server answered \(refusal.status)"
        default: "\(reason)"
        }
    }
}

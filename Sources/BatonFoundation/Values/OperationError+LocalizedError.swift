public import Baton
public import Foundation

/// Conformance to `LocalizedError`, so that a user reads the text of the original error, even if a condition or a
/// dependency has passed that error on.
extension OperationError: LocalizedError {
    /// The description of the ``OperationError/underlyingError`` or, if there is none, that of this error.
    public var errorDescription: String? { underlyingError?.localizedDescription ?? description }

    /// The failure reason of the ``OperationError/underlyingError``, if it has one.
    public var failureReason: String? { (underlyingError as? any LocalizedError)?.failureReason }

    /// The recovery suggestion of the ``OperationError/underlyingError``, if it has one.
    public var recoverySuggestion: String? { (underlyingError as? any LocalizedError)?.recoverySuggestion }

    /// The help anchor of the ``OperationError/underlyingError``, if it has one.
    public var helpAnchor: String? { (underlyingError as? any LocalizedError)?.helpAnchor }
}

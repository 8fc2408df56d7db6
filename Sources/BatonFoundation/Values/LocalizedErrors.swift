public import Baton
public import Foundation

/// What a user is shown is what the original error shows, whoever passes it on: that of a body, a condition, a
/// dependency.
extension OperationError: LocalizedError {
    /// That of the ``OperationError/underlyingError``; without one, the description.
    public var errorDescription: String? { underlyingError?.localizedDescription ?? description }

    /// That of the ``OperationError/underlyingError``, if it has one.
    public var failureReason: String? { (underlyingError as? any LocalizedError)?.failureReason }

    /// That of the ``OperationError/underlyingError``, if it has one.
    public var recoverySuggestion: String? { (underlyingError as? any LocalizedError)?.recoverySuggestion }

    /// That of the ``OperationError/underlyingError``, if it has one.
    public var helpAnchor: String? { (underlyingError as? any LocalizedError)?.helpAnchor }
}

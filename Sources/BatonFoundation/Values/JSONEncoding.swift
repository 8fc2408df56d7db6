public import Baton
public import Foundation

/// Encodes a value as JSON.
///
/// ```swift
/// let body = order.then(JSONEncoding())
/// ```
public struct JSONEncoding<Value: Encodable & Sendable>: InputProcedure {
    private let makeEncoder: @Sendable () -> JSONEncoder

    /// Makes a procedure that encodes values of this type.
    ///
    /// - Parameters:
    ///   - type: What is encoded; it need not be said where it is known.
    ///   - encoder: Makes the encoder of a run, on the task of that run. Without one, it is a new `JSONEncoder`.
    public init(
        _ type: Value.Type = Value.self, encoder: @escaping @Sendable () -> JSONEncoder = { JSONEncoder() }
    ) {
        makeEncoder = encoder
    }

    /// Encodes `input`. What has no place in JSON, such as a number that is none, fails with the encoder's own
    /// `EncodingError`.
    public func execute(_ input: Value, in context: OperationContext) async throws -> Data {
        try makeEncoder().encode(input)
    }
}

public import Baton
public import Foundation

/// A procedure that encodes a value as JSON.
///
/// ```swift
/// let body = order.then(JSONEncoding())
/// ```
public struct JSONEncoding<Value: Encodable & Sendable>: InputProcedure {
    private let makeEncoder: @Sendable () -> JSONEncoder

    /// Creates a procedure that encodes values of one type.
    ///
    /// - Parameters:
    ///   - type: The type to encode. It can be left out where the compiler infers it.
    ///   - encoder: A closure that makes the encoder of a run, on the task of that run. By default it makes a
    ///     `JSONEncoder` without options.
    public init(
        _ type: Value.Type = Value.self, encoder: @escaping @Sendable () -> JSONEncoder = { JSONEncoder() }
    ) {
        makeEncoder = encoder
    }

    /// Encodes the input.
    ///
    /// - Parameters:
    ///   - input: The value.
    ///   - context: The context of the run.
    /// - Returns: The JSON text.
    /// - Throws: The encoder's own `EncodingError`, for example for a floating-point number that is infinite.
    public func execute(_ input: Value, in context: OperationContext) async throws -> Data {
        try makeEncoder().encode(input)
    }
}

public import Baton
public import Foundation

/// Decodes a value from JSON.
///
/// ```swift
/// let page = data.then(JSONDecoding<Page>())
/// let feed = data.then(JSONDecoding(Feed.self) {
///     let decoder = JSONDecoder()
///     decoder.dateDecodingStrategy = .iso8601
///     return decoder
/// })
/// ```
public struct JSONDecoding<Value: Decodable & Sendable>: InputProcedure {
    private let makeDecoder: @Sendable () -> JSONDecoder

    /// Makes a procedure that decodes values of this type.
    ///
    /// - Parameters:
    ///   - type: What is decoded; it need not be said where it is known.
    ///   - decoder: Makes the decoder of a run, on the task of that run. Without one, it is a new `JSONDecoder`.
    public init(
        _ type: Value.Type = Value.self, decoder: @escaping @Sendable () -> JSONDecoder = { JSONDecoder() }
    ) {
        makeDecoder = decoder
    }

    /// Decodes `input`. What does not fit fails with the decoder's own `DecodingError`.
    public func execute(_ input: Data, in context: OperationContext) async throws -> Value {
        try makeDecoder().decode(Value.self, from: input)
    }
}

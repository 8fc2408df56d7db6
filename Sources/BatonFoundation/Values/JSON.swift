public import Baton
public import Foundation

/// A procedure that decodes a value from JSON.
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

    /// Creates a procedure that decodes values of one type.
    ///
    /// - Parameters:
    ///   - type: The type to decode. It can be left out where the compiler infers it.
    ///   - decoder: A closure that makes the decoder for each run. It is called on the task of that run. The default
    ///     closure makes a `JSONDecoder` without options.
    public init(
        _ type: Value.Type = Value.self, decoder: @escaping @Sendable () -> JSONDecoder = { JSONDecoder() }
    ) {
        makeDecoder = decoder
    }

    /// Decodes the input.
    ///
    /// - Parameters:
    ///   - input: The JSON text.
    ///   - context: The context of the run.
    /// - Returns: The decoded value.
    /// - Throws: The decoder's own `DecodingError`, whose text says where in the input the error is.
    public func execute(_ input: Data, in context: OperationContext) async throws -> Value {
        let decoder = makeDecoder()
        do {
            return try decoder.decode(Value.self, from: input)
        } catch DecodingError.dataCorrupted(let context) where context.codingPath.isEmpty && !decoder.allowsJSON5 {
            throw DecodingError.dataCorrupted(context.addingParserDescription(in: input))
        }
    }
}

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

extension DecodingError.Context {
    /// Returns the same context with the parser's description, which says where in the text the error is.
    ///
    /// On Linux the decoder discards this description, so the text is parsed again with `JSONSerialization`.
    fileprivate func addingParserDescription(in input: Data) -> Self {
        var parser = underlyingError
        if parser == nil {
            do { _ = try JSONSerialization.jsonObject(with: input, options: .fragmentsAllowed) } catch {
                parser = error
            }
        }
        guard let text = (parser as NSError?)?.userInfo["NSDebugDescription"] as? String,
            !debugDescription.contains(text)
        else { return self }
        return Self(codingPath: codingPath, debugDescription: "\(debugDescription) \(text)", underlyingError: parser)
    }
}

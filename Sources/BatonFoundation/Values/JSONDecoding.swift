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

    /// Decodes `input`. What does not fit fails with the decoder's own `DecodingError`, whose text says where it is.
    public func execute(_ input: Data, in context: OperationContext) async throws -> Value {
        let decoder = makeDecoder()
        do {
            return try decoder.decode(Value.self, from: input)
        } catch DecodingError.dataCorrupted(let context) where context.codingPath.isEmpty && !decoder.allowsJSON5 {
            throw DecodingError.dataCorrupted(context.withPlace(in: input))
        }
    }
}

extension DecodingError.Context {
    /// The same context, with what the parser says of the place in the text. On Linux the decoder does not pass that
    /// on, and the older parser of Foundation is asked.
    fileprivate func withPlace(in input: Data) -> Self {
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

package import Baton
internal import BatonNetwork
internal import Foundation

/// A condition that is satisfied if the miniature does not exist, is older than its source, or was made from another
/// source or with other parameters.
///
/// The operation fails if the miniature would replace a file that this program has not made.
package struct OutOfDate: OperationCondition {
    let source: Source
    let output: Output
    let recipe: Recipe
    let isForced: Bool
    let timeout: Duration

    package var name: String { "is out of date" }

    /// Returns an operation that asks the server when the source was changed, if the source is on a server and the
    /// miniature exists.
    package func dependency(for operation: AnyOperation) -> AnyOperation? {
        guard case .address(let address) = source.place, !isForced, output.file.isThere else { return nil }
        let head = HTTPData(address).method("HEAD").deadline(timeout)
        return AsyncOperation(Stage.asking.name(source)) { context in
            try await head.execute(in: context).head.lastModified
        }
    }

    package func evaluate(for operation: AnyOperation, after asked: AnyOperation?) async throws -> ConditionResult {
        if let error = asked?.error, operation.isCancelled { throw error }
        guard output.file.isThere else { return .satisfied }
        if case .file(let file) = source.place, file.isSameFile(as: output.file) { throw OutputError.isItsSource }
        if isForced { return .satisfied }
        guard let signature = try Picture.software(ofFile: output.file.path), Recipe.isSignature(signature) else {
            throw OutputError.isForeign(output.file.path)
        }
        guard signature == recipe.signature(of: source), let made = output.file.changed else { return .satisfied }
        // If the server does not answer, the download will report the error.
        let changed =
            switch source.place {
            case .file(let file): file.changed
            case .address: (asked as? AsyncOperation<Date?>)?.result.flatMap { try? $0.get() }
            }
        return changed.map { $0 < made } == true ? .skip("is up to date") : .satisfied
    }

    package func evaluate(for operation: AnyOperation) async throws -> ConditionResult {
        try await evaluate(for: operation, after: nil)
    }
}

/// The reason why a miniature may not be written.
package enum OutputError: Error, Hashable, CustomStringConvertible {
    /// The output would replace the input.
    case isItsSource
    /// The file exists and was not made by this program.
    case isForeign(String)

    package var description: String {
        switch self {
        case .isItsSource: "would be replaced by its own miniature: give another folder with --out"
        case .isForeign(let path):
            "would replace \(path), which was not made by tiltshift: use --force or another --out"
        }
    }
}

extension HTTPHead {
    /// The date in the Last-Modified field.
    var lastModified: Date? {
        guard let text = headers["Last-Modified"] else { return nil }
        let format = DateFormatter()
        format.locale = Locale(identifier: "en_US_POSIX")
        format.timeZone = TimeZone(secondsFromGMT: 0)
        format.dateFormat = "EEE, dd MMM yyyy HH:mm:ss 'GMT'"
        return format.date(from: text)
    }
}

package import Baton
internal import BatonNetwork
internal import Foundation

/// Lets a miniature be made only if there is none yet, or an older one, or one that looks otherwise or shows something
/// else.
///
/// Fails it if it would replace something that somebody else has made.
package struct OutOfDate: OperationCondition {
    let source: Source
    let output: Output
    let recipe: Recipe
    let isForced: Bool
    let timeout: Duration

    package var name: String { "is out of date" }

    /// Of a picture on a server that was made before: asks when it was changed.
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
        // A server that does not answer now will say so at the download.
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

/// Why a picture may not be written where it should be.
package enum OutputError: Error, Hashable, CustomStringConvertible {
    /// The output would replace the input.
    case isItsSource
    /// There is a file of that name which this program has not made.
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
    /// When the server says that it was changed.
    var lastModified: Date? {
        guard let text = headers["Last-Modified"] else { return nil }
        let format = DateFormatter()
        format.locale = Locale(identifier: "en_US_POSIX")
        format.timeZone = TimeZone(secondsFromGMT: 0)
        format.dateFormat = "EEE, dd MMM yyyy HH:mm:ss 'GMT'"
        return format.date(from: text)
    }
}

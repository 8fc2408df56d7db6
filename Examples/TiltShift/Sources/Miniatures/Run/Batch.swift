package import Baton
internal import BatonTrace
internal import Foundation

/// Makes miniatures of any number of pictures.
///
/// ```swift
/// let batch = Batch(SourceList(["harbour.jpg", "holidays", "https://example.org/town.png"]), Settings())
/// let result = await batch.run()
/// ```
///
/// Each picture is an operation whose stages are its children. It runs if its miniature is out of date, and if no other
/// batch of this process is making the same miniature. A failure does not affect other pictures.
package struct Batch: Sendable {
    /// The queue of the batch, which callers may observe or cancel. Operations that have begun still end before `run`
    /// returns.
    package let queue: AsyncOperationQueue

    private let list: SourceList
    private let settings: Settings

    package init(_ list: SourceList, _ settings: Settings) {
        self.list = list
        self.settings = settings
        // Some of the threads compute, while others read files or download.
        queue = AsyncOperationQueue(
            name: "tiltshift", maxConcurrentOperationCount: settings.jobs * 2,
            executor: ThreadExecutor(name: "tiltshift", threads: settings.jobs * 2))
    }

    /// Runs the batch, and returns the outcome of each picture. Call it only once.
    ///
    /// - Parameter tell: Called for each picture, in the order in which they were named, as soon as its outcome and
    ///   those before it are known.
    package func run(tell: (PictureResult) -> Void = { _ in }) async -> BatchResult {
        let recorder = TraceRecorder(of: queue)
        let outputs = Output.each(of: list.sources, in: settings.folder, as: settings.recipe.format)
        let key = keyLoading()
        let operations = zip(list.sources, outputs).map { source, output in
            settings.isRehearsal ? rehearsal(source, output) : making(source, output, key)
        }
        queue.add(operations)

        var pictures = list.problems.map { PictureResult(input: $0.name, output: nil, outcome: .failed($0.why)) }
        pictures.forEach(tell)
        for (index, operation) in operations.enumerated() {
            let picture = PictureResult(
                input: list.sources[index].name, output: outputs[index].file,
                outcome: await Self.outcome(of: operation),
                operation: operation.reference.id)
            tell(picture)
            pictures.append(picture)
        }
        await queue.waitUntilIdle()
        return BatchResult(pictures: pictures, trace: await recorder.trace(), settings: settings)
    }

    private func making(_ source: Source, _ output: Output, _ key: AsyncOperation<SecretKey>)
        -> AsyncOperation<PictureResult.Outcome>
    {
        ruled(AsyncOperation(Miniature(source: source, output: output, settings: settings, key: key)), source, output)
            // Only one more picture is fetched than can be processed, because fetched pictures are in memory.
            .addCondition(.limited("pictures at a time", to: settings.jobs + 1))
    }

    /// Makes an operation with the same rules that changes nothing.
    private func rehearsal(_ source: Source, _ output: Output) -> AsyncOperation<PictureResult.Outcome> {
        ruled(AsyncOperation { .toMake }, source, output)
    }

    private func ruled(_ operation: AsyncOperation<PictureResult.Outcome>, _ source: Source, _ output: Output)
        -> AsyncOperation<PictureResult.Outcome>
    {
        operation
            .name(source.name)
            .unique(by: source.identity, in: "pictures")
            .addCondition(
                OutOfDate(
                    source: source, output: output, recipe: settings.recipe, isForced: settings.isForced,
                    timeout: settings.timeout))
    }

    /// Makes the operation that loads the key. It runs once, when the first encrypted picture needs it.
    private func keyLoading() -> AsyncOperation<SecretKey> {
        AsyncOperation(Stage.key) { [keyFile = settings.keyFile] in
            guard let keyFile else { throw SecretError.keyMissing }
            return try SecretKey(file: keyFile)
        }
    }

    private static func outcome(of operation: AsyncOperation<PictureResult.Outcome>) async -> PictureResult.Outcome {
        do {
            return try await operation.value
        } catch .skipped(.condition) {
            return .upToDate
        } catch .skipped(.duplicate) {
            return .duplicate
        } catch .cancelled {
            return .cancelled
        } catch {
            return .failed(FailureText.line(error))
        }
    }
}

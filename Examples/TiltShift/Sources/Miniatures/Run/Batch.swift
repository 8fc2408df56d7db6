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
/// Each picture is an operation whose stages are its children. It runs if it is out of date, and if nobody else in this
/// process makes the same picture at the moment; it fails alone.
package struct Batch: Sendable {
    /// Where everything runs: to be watched, or cancelled. A cancel waits for what has begun.
    package let queue: AsyncOperationQueue

    private let list: SourceList
    private let settings: Settings

    package init(_ list: SourceList, _ settings: Settings) {
        self.list = list
        self.settings = settings
        // Some of the threads compute, the others read files and take what servers send.
        queue = AsyncOperationQueue(
            name: "tiltshift", maxConcurrentOperationCount: settings.jobs * 2,
            executor: ThreadExecutor(name: "tiltshift", threads: settings.jobs * 2))
    }

    /// Does it, and says what became of each picture. To be called once.
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
            // One more than can be worked with is fetched meanwhile, and not more: they are in memory.
            .addCondition(.limited("pictures at a time", to: settings.jobs + 1))
    }

    /// Has the same rules, and does nothing.
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

    /// Runs when the first encrypted picture needs it, and once.
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

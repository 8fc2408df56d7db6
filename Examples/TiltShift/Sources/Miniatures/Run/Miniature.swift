internal import Baton
internal import BatonNetwork
internal import Foundation

/// Makes one miniature, with an operation for each stage that passes its result to the next.
///
///     download or read ─→ decrypt ─→ tilt shift ─→ save
///                            ↑
///                           key
struct Miniature: Procedure {
    let source: Source
    let output: Output
    let settings: Settings
    let key: AsyncOperation<SecretKey>

    func execute(in context: OperationContext) async throws -> PictureResult.Outcome {
        let bytes = fetching()
        let clear =
            source.isEncrypted ? imageWork(.decrypting, AsyncOperation(Decryption(), inputs: bytes, key)) : bytes
        let shifted = imageWork(.shifting, clear.then(TiltShift(settings.recipe.look)))
        let signature = settings.recipe.signature(of: source)
        let saved = imageWork(.saving, shifted.then(Saving(to: output.file, settings.recipe, signature: signature)))
        guard settings.hasThumbnails else { return try await .made(FinishedPicture(saved: context.run(saved))) }

        let before = imageWork(.picturing, clear.then(ThumbnailBefore()))
        let after = imageWork(.picturing, shifted.then(ThumbnailAfter()))
        let all = AsyncOperation(saved, before, after) { saved, before, after in
            PictureResult.Outcome.made(FinishedPicture(saved: saved, before: before, after: after))
        }
        return try await context.run(all.name(Stage.finishing.name(source)))
    }

    private func fetching() -> AsyncOperation<Data> {
        switch source.place {
        case .file(let file):
            return AsyncOperation(FileReading(file)).name(Stage.reading.name(source))
        case .address(let address):
            let download = AsyncOperation(Download(address, timeout: settings.timeout))
                .name(Stage.downloading.name(source))
                .retryHTTP(attempts: settings.retries + 1)
            return URL(string: address).map { download.addCondition(.perHost($0, to: 4)) } ?? download
        }
    }

    /// Limits the operations that compute to the number of jobs. Each of them uses one thread, because libvips starts
    /// no others.
    private func imageWork<Output>(_ stage: Stage, _ operation: AsyncOperation<Output>) -> AsyncOperation<Output> {
        operation.name(stage.name(source)).addCondition(.limited("image work", to: settings.jobs))
    }
}

/// A miniature, and its thumbnails for the report.
struct FinishedPicture: Sendable {
    let saved: SavedPicture
    var before: Data?
    var after: Data?
}

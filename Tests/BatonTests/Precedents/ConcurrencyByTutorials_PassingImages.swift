// After Concurrency by Tutorials, chapter 9, ‘Operation Dependencies’
//
// The second half of its program: the tilt shift looks among what it depends on for somebody who provides an image,
// whatever that one calls it, and a cell displays the outcome on the main thread.
//
// The number of a statement begins the name of its test.
// swift-format-ignore-file: AlwaysUseLowerCamelCase

import BatonTesting
import Testing

@testable import Baton

private struct Picture: Equatable, Sendable {
    var subject: String
    var isShifted = false
}

/// An output from which an image can be had.
private protocol ImageProvider: Sendable {
    var image: Picture? { get }
}

/// Calls it as the protocol does.
private struct Download: ImageProvider {
    let image: Picture?
}

/// Calls it otherwise.
private struct TiltShifted {
    let outputImage: Picture
}

extension TiltShifted: ImageProvider {
    var image: Picture? { outputImage }
}

/// Not our type: the extension makes a provider of it.
extension [String]: ImageProvider {
    fileprivate var image: Picture? { first.map { Picture(subject: $0) } }
}

/// Works on the image that it was given, else on the first that it finds.
private struct TiltShift: Procedure {
    var image: Picture?
    var log = EventLog<String>()

    func execute(in context: OperationContext) async throws -> TiltShifted {
        let found = context.dependencies.outputs(of: (any ImageProvider).self).lazy.compactMap(\.image).first
        guard var image = image ?? found else { throw OperationError.inputMissing }
        log("shifts \(image.subject)")
        image.isShifted = true
        return TiltShifted(outputImage: image)
    }
}

@MainActor private final class PhotoCell {
    private(set) var isLoading = true
    private(set) var image: Picture?

    func display(_ result: Result<TiltShifted, OperationError>) {
        isLoading = false
        image = try? result.get().image
    }
}

@Suite(.timeLimit(.minutes(10))) struct ConcurrencyByTutorials_PassingImages {
    private let stage = TestQueue()

    private func download(_ subject: String?) -> AsyncOperation<Download> {
        AsyncOperation("download") { Download(image: subject.map { Picture(subject: $0) }) }
    }

    /// What a tilt shift makes of these, in this order, and of an image given to it.
    private func shifted(_ image: Picture? = nil, after sources: AnyOperation...) -> AsyncOperation<TiltShifted> {
        let tiltShift = AsyncOperation(TiltShift(image: image, log: stage.log))
        for source in sources { tiltShift.addDependency(source) }
        stage.queue.add(sources.filter { $0.state == .created } + [tiltShift])
        stage.steps.runAll()
        return tiltShift
    }

    @Test func ConcurrencyByTutorials_6_anImageIsFoundByProtocolWhateverItsName() throws {
        let first = shifted(after: download("harbour"))
        #expect(try first.result?.get().image == Picture(subject: "harbour", isShifted: true))
        // Another name for the same thing, behind a dependency that is of no use here.
        let label = AsyncOperation("label") { 1 }
        let again = AsyncOperation("shifted") { TiltShifted(outputImage: Picture(subject: "bridge")) }
        #expect(try shifted(after: label, again).result?.get().outputImage.subject == "bridge")
        // A type that is not ours.
        let names = AsyncOperation("names") { ["tower", "gate"] }
        #expect(try shifted(after: names).result?.get().outputImage.subject == "tower")
    }

    @Test func ConcurrencyByTutorials_7_theFirstThatHasOneWins() throws {
        let failed = AsyncOperation<Download>("failed") { throw Oops() }
        let cancelled = download("cancelled")
        cancelled.cancel()
        let result = shifted(after: failed, download(nil), cancelled, download("second"), download("third"))
        #expect(try result.result?.get().outputImage.subject == "second")
    }

    @Test func ConcurrencyByTutorials_8_anImageGivenOverridesTheOneFound() throws {
        let result = shifted(Picture(subject: "bundled"), after: download("harbour"))
        #expect(try result.result?.get().outputImage.subject == "bundled")
    }

    @Test func ConcurrencyByTutorials_9_withNeitherNoWorkIsDone() {
        let alone = shifted()
        let withNothing = shifted(after: download(nil))
        #expect(stage.ran == [])
        for operation in [alone, withNothing] {
            guard case .inputMissing? = operation.error else {
                Issue.record("\(operation.ending)")
                continue
            }
        }
    }

    @Test func ConcurrencyByTutorials_9_theProcedureCanBeCalledWithoutAQueue() async throws {
        let context = OperationContext(outputs: [1, Download(image: nil), ["tower"]])
        #expect(try await TiltShift().execute(in: context).outputImage.subject == "tower")
    }

    @Test @MainActor func ConcurrencyByTutorials_11_theHandlerRunsOnTheMainActor() async {
        let queue = AsyncOperationQueue()
        let cell = PhotoCell()
        let source = download("harbour")
        let tiltShift = AsyncOperation(TiltShift())
        tiltShift.addDependency(source)
        tiltShift.didFinish { @MainActor result in
            MainActor.assertIsolated()
            cell.display(result)
        }
        queue.add(source, tiltShift)
        await queue.waitUntilIdle()
        #expect(!cell.isLoading)
        #expect(cell.image == Picture(subject: "harbour", isShifted: true))
    }

    /// A handler that holds its operation, and a screen: both are let go when it has run.
    @Test @MainActor func ConcurrencyByTutorials_11_theHandlerKeepsNothingAlive() async {
        let tokens = Tokens()
        let queue = AsyncOperationQueue()
        let log = EventLog<Bool>()
        weak var finished: AnyOperation?
        do {
            let token = tokens.make()
            let tiltShift = AsyncOperation(TiltShift(image: Picture(subject: "harbour")))
            tiltShift.didFinish { @MainActor _ in
                token.touch()
                log(tiltShift.state == .finished)
            }
            finished = tiltShift
            queue.add(tiltShift)
        }
        await queue.waitUntilIdle()
        #expect(log.events == [true])
        #expect(tokens.alive == 0)
        #expect(finished == nil)
    }

    /// The handler belongs to the operation that has the final value.
    @Test func ConcurrencyByTutorials_12_theHandlerOfTheTiltShiftGetsTheFinalImage() {
        let source = download("harbour")
        let tiltShift = AsyncOperation(TiltShift())
        tiltShift.addDependency(source)
        source.didFinish { [log = stage.log] result in log("downloaded, shifted: \(try! result.get().image!.isShifted)")
        }
        tiltShift.didFinish { [log = stage.log] result in log("shifted: \(try! result.get().outputImage.isShifted)") }
        stage.run(source, tiltShift)
        #expect(Set(stage.ran) == ["downloaded, shifted: false", "shifted: true"])
        #expect(stage.ran.last == "shifted: true")
    }
}

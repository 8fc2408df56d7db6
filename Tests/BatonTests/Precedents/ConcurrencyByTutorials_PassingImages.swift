// Statements of Concurrency by Tutorials, chapter 9, ‘Operation Dependencies’
//
// The second half of the program: the tilt shift searches its dependencies for an image, whatever the name of the
// property is, and a cell displays the image on the main thread.
//
// Test names begin with the number of their statement in Documentation/Precedents.md.
// swift-format-ignore-file: AlwaysUseLowerCamelCase

import BatonTesting
import Testing

@testable import Baton

private struct Picture: Equatable, Sendable {
    var subject: String
    var isShifted = false
}

/// An output that contains an image.
private protocol ImageProvider: Sendable {
    var image: Picture? { get }
}

/// An output whose property has the name of the protocol's.
private struct Download: ImageProvider {
    let image: Picture?
}

/// An output whose property has another name.
private struct TiltShifted {
    let outputImage: Picture
}

extension TiltShifted: ImageProvider {
    var image: Picture? { outputImage }
}

/// A type of the standard library, which the extension makes an image provider.
extension [String]: ImageProvider {
    fileprivate var image: Picture? { first.map { Picture(subject: $0) } }
}

/// Shifts the given image, or the first one that it finds among its dependencies.
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

    /// Returns a tilt shift of the given image, if any, that depends on the sources in this order.
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
        // The property has another name, and the first dependency has no image.
        let label = AsyncOperation("label") { 1 }
        let again = AsyncOperation("shifted") { TiltShifted(outputImage: Picture(subject: "bridge")) }
        #expect(try shifted(after: label, again).result?.get().outputImage.subject == "bridge")
        // The type belongs to the standard library.
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

    /// The handler retains its operation and a view. Both are released when it has run.
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

    /// The handler belongs to the operation with the final value.
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

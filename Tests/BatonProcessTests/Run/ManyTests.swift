import Baton
import BatonProcess
import Foundation
import Testing

@Suite(.timeLimit(.minutes(10))) struct ManyTests {
    @Test func twoHundredAtATime() async throws {
        let queue = AsyncOperationQueue(maxConcurrentOperationCount: AsyncOperationQueue.unlimited)
        let operations = (0..<200).map { number in
            AsyncOperation(Subprocess("cat", input: .data(Data("\(number),".utf8) + Data(count: 100_000))))
        }
        queue.add(operations)
        for (number, operation) in operations.enumerated() {
            #expect(try await operation.value.standardOutput == Data("\(number),".utf8) + Data(count: 100_000))
        }
    }

    /// The test has a process of its own, because other tests have descriptors, threads and children as well.
    @Test(.enabled(if: FileManager.default.fileExists(atPath: "/proc/self/task")))
    func aThousandRunsLeaveNothing() async {
        await #expect(processExitsWith: .success) {
            try await Self.runSome(200)
            let before = try await Belongings.quiet()
            try await Self.runSome(1_000)
            var after = try await Belongings.quiet()
            for _ in 0..<3 where after.threads > before.threads || after.descriptors > before.descriptors {
                after = try await Belongings.quiet()
            }
            precondition(after.descriptors <= before.descriptors && after.children == 0, "\(before), \(after)")
            precondition(after.threads <= before.threads, "\(before), \(after)")
        }
    }

    /// Tries every limit, so that each call that needs a descriptor is refused once.
    @Test(.enabled(if: FileManager.default.fileExists(atPath: "/proc/self/task")))
    func withoutDescriptorsItIsAnErrorAndNothingIsLeft() async {
        await #expect(processExitsWith: .success) {
            let program = Subprocess("true", input: .data(Data(count: 100_000)), errors: .collected())
            _ = try await program.result()
            let before = Belongings.now()
            var refusals = 0
            var hasRun = false
            while !hasRun, refusals < 300 {
                Neighbours.limitDescriptors(to: refusals)
                let failure = await program.failure()
                Neighbours.limitDescriptors(to: 1_000)
                switch failure {
                case .notStarted(_, let reason)?, .fileNotUsable(_, _, let reason)?:
                    #expect(reason == SystemFailure(code: 24))
                    refusals += 1
                case nil: hasRun = true
                default:
                    Issue.record("\(String(describing: failure))")
                    return
                }
            }
            #expect(hasRun && refusals > 8)
            // The tasks that have read the program's output may not have ended yet.
            while Belongings.now().descriptors > before.descriptors { await Task.yield() }
            #expect(Belongings.now().children == 0)
        }
    }

    private static func runSome(_ count: Int) async throws {
        let queue = AsyncOperationQueue(maxConcurrentOperationCount: 20)
        for round in 0..<(count / 20) {
            let operations = (0..<20).map { run(number: $0) }
            queue.add(operations)
            for operation in operations { await operation.finished() }
            let pipeline = SubprocessPipeline(Subprocess("yes"), Subprocess("cat"), Subprocess("head"))
            if round % 10 == 0 { _ = try await queue.run(AsyncOperation(pipeline)) }
        }
        await queue.waitUntilIdle()
    }

    private static func run(number: Int) -> AsyncOperation<SubprocessResult> {
        switch number % 5 {
        case 0: AsyncOperation(Subprocess("true", input: .data(Data(count: 100_000))))
        case 1: AsyncOperation(Subprocess("/nothing/here"))
        case 2: AsyncOperation(sh("exit 1"))
        case 3: AsyncOperation(Subprocess("yes", output: .collected(limit: 1_000)))
        default: AsyncOperation(sh("sleep 0 & echo")).cancelledSoon()
        }
    }
}

extension AsyncOperation {
    fileprivate func cancelledSoon() -> Self {
        didStart { [weak self] in self?.cancel() }
        return self
    }
}

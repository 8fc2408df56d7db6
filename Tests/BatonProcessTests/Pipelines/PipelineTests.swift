import Baton
import BatonProcess
import BatonTesting
import Foundation
import Testing

@Suite(.timeLimit(.minutes(10))) struct PipelineTests {
    private let queue = AsyncOperationQueue()

    private func sorting(_ text: String) -> [AsyncOperation<SubprocessResult>] {
        SubprocessPipeline(
            Subprocess("cat", input: .text(text)), Subprocess("sort"), Subprocess("uniq", arguments: ["-c"])
        ).operations()
    }

    @Test func threeProgramsAreThreeOperations() async throws {
        let operations = sorting("b\na\nb\n")
        queue.add(operations)
        #expect(try await operations[2].value.text.split(whereSeparator: \.isWhitespace) == ["1", "a", "2", "b"])
        #expect(try await operations[0].value == SubprocessResult())
        #expect(try await operations[1].value == SubprocessResult())
        #expect(operations.map(\.name) == ["cat", "sort", "uniq"])
    }

    @Test("One procedure runs all programs of a pipeline")
    func oneProcedureRunsThemAll() async throws {
        let pipeline = SubprocessPipeline(
            Subprocess("seq", arguments: ["200000"]), Subprocess("sort", arguments: ["-rn"]), Subprocess("head"))
        let result = try await queue.run(AsyncOperation(pipeline))
        #expect(result.text.hasPrefix("200000\n199999\n"))
        #expect(try await queue.run(AsyncOperation(SubprocessPipeline(Subprocess("echo")))).text == "\n")
    }

    @Test("A pipeline without programs fails")
    func noPrograms() async throws {
        let operation = queue.add(AsyncOperation(SubprocessPipeline()))
        try await operation.waitUntilFinished()
        #expect(operation.error?.description == "A pipeline without programs cannot run. Give it one or more")
        #expect(SubprocessPipeline().operations().isEmpty)
    }

    @Test func twentyMegabytesGoThroughThree() async throws {
        let pipeline = SubprocessPipeline(
            Subprocess("head", arguments: ["-c", "20000000", "/dev/zero"]), Subprocess("cat"),
            Subprocess("wc", arguments: ["-c"]))
        #expect(try await queue.run(AsyncOperation(pipeline)).text.contains("20000000"))
    }

    @Test func aWriterSucceedsWhenItsReaderHasEnough() async throws {
        let operations = SubprocessPipeline(Subprocess("yes"), Subprocess("head", arguments: ["-n", "2"])).operations()
        queue.add(operations)
        #expect(try await operations[1].value.text == "y\ny\n")
        #expect(try await operations[0].value.termination == .signalled(13))
        #expect(try await operations[0].value.status == nil)
    }

    @Test(arguments: [1, 2], [false, true])
    func aQueueMayBeNarrowerThanThePipeline(width: Int, isReversed: Bool) async throws {
        let queue = AsyncOperationQueue(maxConcurrentOperationCount: width)
        let text = String(repeating: "a line of some length\n", count: 50_000)
        let operations = sorting(text)
        queue.add(isReversed ? operations.reversed() : operations)
        #expect(try await operations[2].value.text.contains("50000"))
        let pipeline = SubprocessPipeline(Subprocess("yes"), Subprocess("cat"), Subprocess("head"))
        _ = try await queue.run(AsyncOperation(pipeline))
    }

    @Test("A program that never runs does not keep the others waiting", arguments: 0..<3)
    func oneThatNeverRunsLeavesTheOthersNotWaiting(missing: Int) async throws {
        let operations = SubprocessPipeline(
            Subprocess("yes"), Subprocess("cat"), Subprocess("head", arguments: ["-n", "1"])
        ).operations()
        operations[missing].cancel()
        queue.add(operations)
        for operation in operations { await operation.finished() }
        #expect(operations[missing].wasCancelled)
        #expect(operations.filter { $0.error != nil }.count == 1)
    }

    @Test("Programs do not wait for one whose operation is released without having been added", arguments: 0..<3)
    func releasedOperation(missing: Int) async {
        var operations = SubprocessPipeline(
            Subprocess("yes"), Subprocess("cat"), Subprocess("head", arguments: ["-n", "1"])
        ).operations()
        operations.remove(at: missing)
        queue.add(operations)
        for operation in operations { await operation.finished() }
        #expect(operations.allSatisfy { $0.error == nil })
    }

    @Test("A program that cannot be started does not keep the others waiting", arguments: 0..<3)
    func oneThatCannotBeStartedLeavesTheOthersNotWaiting(missing: Int) async throws {
        var programs = [Subprocess("yes"), Subprocess("cat"), Subprocess("head", arguments: ["-n", "1"])]
        programs[missing].program = "/no/such/program"
        let operations = SubprocessPipeline(programs).operations()
        queue.add(operations)
        for operation in operations { await operation.finished() }
        guard case .notStarted("/no/such/program", _)? = operations[missing].failure else {
            Issue.record("\(operations[missing])")
            return
        }
        #expect(operations.filter { $0.error != nil }.count == 1)
    }

    @Test("A program whose operation is skipped does not keep the others waiting")
    func oneThatIsSkippedByARuleLeavesTheOthersNotWaiting() async throws {
        let operations = sorting("a\n")
        operations[1].addCondition("no") { _ in .skip("not today") }
        queue.add(operations)
        #expect(try await operations[2].value.text.isEmpty)
        await operations[0].finished()
    }

    @Test func aFailureIsThatOfItsOwnOperation() async throws {
        let operations = SubprocessPipeline(sh("echo a; echo oh >&2; exit 3"), Subprocess("cat")).operations()
        queue.add(operations)
        #expect(try await operations[1].value.text == "a\n")
        await operations[0].finished()
        #expect(operations[0].failure == .exited(program: "/bin/sh", status: 3, errors: "oh\n"))
    }

    @Test("A program reads the discarded standard error of no other program", arguments: 0..<3)
    func discardedErrors(place: Int) async throws {
        var programs = [sh("cat; echo a"), sh("cat; echo b"), sh("cat; echo c")]
        programs[place] = sh("cat; echo out; echo err >&2", errors: .discarded)
        var lines = ["a", "b", "c"]
        lines[place] = "out"
        let result = try await queue.run(AsyncOperation(SubprocessPipeline(programs)))
        #expect(result.text == lines.map { $0 + "\n" }.joined())
    }

    @Test("A program reads the merged standard error of the program before it", arguments: 0..<3)
    func mergedErrors(place: Int) async throws {
        var programs = [sh("cat; echo a"), sh("cat; echo b"), sh("cat; echo c")]
        programs[place] = sh("cat; echo err >&2; echo out", errors: .merged)
        var lines = ["a", "b", "c"]
        lines[place] = "err\nout"
        let result = try await queue.run(AsyncOperation(SubprocessPipeline(programs)))
        #expect(result.text == lines.map { $0 + "\n" }.joined())
    }

    @Test func inOneProcedureTheFirstFailureEndsTheOthers() async {
        let operation = AsyncOperation(
            SubprocessPipeline(sh("exec sleep 1000"), sh("exit 5"), sh("exec sleep 1000")))
        queue.add(operation)
        await operation.finished()
        #expect(operation.failure == .exited(program: "/bin/sh", status: 5, errors: ""))
    }

    @Test func cancelledItEndsAllOfThem() async {
        let operations = SubprocessPipeline(Subprocess("yes"), Subprocess("cat"), sh("cat > /dev/null")).operations()
        let all = GroupOperation(operations)
        all.didStart { [weak all] in all?.cancel() }
        queue.add(all)
        await all.finished()
        #expect(all.wasCancelled)
        #expect(operations.allSatisfy { $0.state == .finished })
    }

    @Test func aCancelledProcedureEndsAllOfThem() async {
        let log = EventLog<String>()
        let operation = AsyncOperation(
            SubprocessPipeline(
                sh("exec yes"), Subprocess("cat"),
                sh("echo ready; exec cat > /dev/null", output: .lines { log($0) })))
        queue.add(operation)
        await log.waitForCount(1)
        operation.cancel()
        await operation.finished()
        #expect(operation.wasCancelled)
    }

    @Test("A program of a pipeline cannot run twice")
    func oneOfThemCannotRunTwice() async {
        let operations = SubprocessPipeline(sh("exit 1"), Subprocess("cat")).operations()
        operations[0].retry(.immediately, attempts: 2)
        queue.add(operations)
        for operation in operations { await operation.finished() }
        #expect(operations[0].failure == .pipeUsed(program: "/bin/sh"))
    }

    @Test func theWholeOfItCanRunAgain() async throws {
        let folder = try Folder()
        let second = sh("echo x >> $1; cat; test $(wc -l < $1) -ge 2", folder.file("count"))
        let operation = AsyncOperation(SubprocessPipeline(Subprocess("echo", arguments: ["again"]), second))
            .retry(.immediately, attempts: 2)
        #expect(try await queue.run(operation).text == "again\n")
        #expect(operation.attempts.count == 2)
    }

    // MARK: Programs that cannot run together

    /// Two programs, the first of which writes more than a pipe holds, so that it ends only if the other one reads.
    private func twoPrograms() -> [AsyncOperation<SubprocessResult>] {
        SubprocessPipeline(
            Subprocess("head", arguments: ["-c", "1000000", "/dev/zero"]), Subprocess("wc", arguments: ["-c"])
        ).operations()
    }

    @Test("A program that depends on another one of its pipeline fails, and the other one ends", arguments: [0, 1])
    func G8_aProgramThatDependsOnAnother(dependent: Int) async {
        let operations = twoPrograms()
        let (waiting, other) = (operations[dependent], operations[1 - dependent])
        waiting.addDependency(other)
        queue.add(operations)
        for operation in operations { await operation.finished() }
        #expect(waiting.cycle == ["head", "wc"])
        let advice = "\(waiting.reference) has to begin before \(other.reference) ends"
        #expect(waiting.error.map { "\($0)".contains(advice) } == true)
        #expect(other.error == nil)
    }

    @Test("A program that is added later, and depends on one that runs, fails")
    func dependencyOfALaterOne() async {
        let operations = twoPrograms()
        let began = Gate()
        operations[0].didStart { began.open() }
        queue.add(operations[0])
        await began.wait()
        operations[1].addDependency(operations[0])
        queue.add(operations[1])
        for operation in operations { await operation.finished() }
        #expect(operations[1].cycle == ["head", "wc"])
        #expect(operations[0].error == nil)
    }

    @Test("A barrier between the programs of a pipeline fails, as does the program behind it", arguments: [1, 8])
    func barrierInside(width: Int) async {
        let queue = AsyncOperationQueue(maxConcurrentOperationCount: width)
        let operations = twoPrograms()
        queue.add(operations[0])
        let barrier = queue.addBarrier("barrier") {}
        queue.add(operations[1])
        for operation in operations { await operation.finished() }
        #expect(operations[1].cycle == ["barrier", "head", "wc"])
        #expect(barrier.cycle == ["barrier", "head", "wc"])
        #expect(operations[0].error == nil)
    }

    @Test func aProgramThatIsABarrierFails() async {
        let operations = twoPrograms()
        queue.add(operations[0])
        queue.addBarrier(operations[1])
        for operation in operations { await operation.finished() }
        #expect(operations[1].cycle == ["head", "wc"])
        #expect(operations[0].error == nil)
    }

    @Test("One of two programs that exclude each other fails")
    func G13_programsThatExcludeEachOther() async {
        let operations = twoPrograms()
        for operation in operations { operation.addCondition(.limited("PipelineTests.G13", to: 1)) }
        queue.add(operations)
        for operation in operations { await operation.finished() }
        #expect(operations.filter { $0.error != nil }.count == 1)
        #expect(operations.contains { $0.deadlock == ["head", "wc"] })
    }

    @Test("One of three programs fails in a group that is narrower than the pipeline", arguments: [1, 2])
    func narrowGroup(width: Int) async {
        let operations = SubprocessPipeline(Subprocess("yes"), Subprocess("cat"), Subprocess("wc")).operations()
        let group = GroupOperation(operations, maxConcurrentOperationCount: width)
        queue.add(group)
        await group.finished()
        #expect(operations.contains { $0.deadlock != nil })
        #expect(operations.allSatisfy { $0.error == nil || $0.deadlock != nil })
    }

    @Test("A condition of a program that awaits another program of the pipeline does not hang")
    func conditionThatAwaitsAnotherProgram() async {
        let operations = twoPrograms()
        operations[1].addCondition("after head") { [first = operations[0]] _ in
            _ = try await first.value
            return .satisfied
        }
        queue.add(operations)
        for operation in operations { await operation.finished() }
        #expect(operations.contains { $0.error != nil })
    }

    @Test("The explanation of a program names the program that it waits for")
    func explanation() async {
        let suspended = AsyncOperationQueue(name: "suspended")
        suspended.isSuspended = true
        let operations = twoPrograms()
        queue.add(operations[0])
        while operations[0].explain().waitsFor.isEmpty { await Task.yield() }
        #expect(operations[0].explain().waitsFor == [operations[1].reference])
        #expect("\(operations[0].explain())".contains("‘wc’ was not added"), "\(operations[0].explain())")
        suspended.add(operations[1])
        #expect("\(operations[0].explain())".contains("‘suspended’"), "\(operations[0].explain())")
        suspended.isSuspended = false
        for operation in operations { await operation.finished() }
        #expect(operations.allSatisfy { $0.error == nil })
    }

    @Test("The program that is waited for gets the priority of the one that waits")
    func priority() async {
        let suspended = AsyncOperationQueue()
        suspended.isSuspended = true
        let operations = twoPrograms()
        operations[0].priority = .veryHigh
        queue.add(operations[0])
        suspended.add(operations[1])
        while operations[1].priority != .veryHigh { await Task.yield() }
        suspended.isSuspended = false
        for operation in operations { await operation.finished() }
        #expect(operations.allSatisfy { $0.error == nil })
    }
}

extension AnyOperation {
    /// The sorted names of the operations on the cycle because of which the operation has failed; nil if there is none.
    fileprivate var cycle: [String]? {
        if case .dependencyCycle(let path)? = error { path.map(\.name).sorted() } else { nil }
    }

    /// The sorted names of the operations on the deadlock because of which the operation has failed; nil if there is
    /// none.
    fileprivate var deadlock: [String]? {
        if case .exclusionDeadlock(let path)? = error { path.map(\.name).sorted() } else { nil }
    }
}

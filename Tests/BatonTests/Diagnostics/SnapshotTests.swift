import BatonTesting
import Foundation
import Testing

@testable import Baton

@Suite(.timeLimit(.minutes(10))) struct SnapshotTests {
    private func operation(_ name: String, in snapshot: QueueSnapshot) throws -> QueueSnapshot.Operation {
        try #require(snapshot.operations.first { $0.name == name })
    }

    @Test func theQueueAndItsOperations() throws {
        let stage = TestQueue(name: "photos", width: 2)
        let gate = Gate()
        let missing = stage.noting("missing")
        let waiting = stage.noting("waiting", after: missing)
        waiting.priority = .high
        stage.run(stage.waiting("running", at: gate), waiting, stage.noting("done"))
        stage.advance(by: .milliseconds(2500))
        let snapshot = stage.queue.snapshot()
        #expect(snapshot.name == "photos")
        #expect(snapshot.number == stage.queue.core.number)
        #expect((snapshot.width, snapshot.isSuspended, snapshot.running) == (2, false, 1))
        #expect(snapshot.time == .milliseconds(2500))
        #expect(snapshot.operations.map(\.name).sorted() == ["running", "waiting"])
        let running = try operation("running", in: snapshot)
        #expect((running.state, running.attempt, running.priority) == (.executing, 1, .normal))
        #expect(running.waitsFor == [])
        #expect(running.cause == "‘running’ is executing.")
        let seen = try operation("waiting", in: snapshot)
        #expect((seen.state, seen.attempt, seen.priority) == (.waiting, 0, .high))
        #expect(seen.waitsFor == [OperationWait(kind: .order, source: missing.reference, exclusion: nil)])
        #expect(seen.cause == "‘waiting’ waits for ‘missing’.")
        #expect(seen.id == waiting.reference.id)
        missing.cancel()
        gate.open()
        stage.steps.runAll()
        stage.queue.isSuspended = true
        #expect(stage.queue.snapshot().operations.isEmpty)
        #expect(stage.queue.snapshot().isSuspended)
    }

    @Test func eachWaitHasItsKind() throws {
        let stage = TestQueue()
        let (gate, key) = (Gate(), ObjectIdentifier(stage.queue))
        let name = "\(#function) \(key)"
        let input = AsyncOperation<Int>("input") {
            await gate.wait()
            return 1
        }
        let reader = input.then { $0 + 1 }
        reader.name = "reader"
        let held = stage.waiting("holder", at: gate).addCondition(.mutuallyExclusive(name))
        let wanting = stage.noting("wanting").addCondition(.mutuallyExclusive(name))
        let original = stage.waiting("original", at: gate).unique(by: key, policy: .join)
        let joiner = stage.noting("joiner").unique(by: key, policy: .join)
        let child = stage.waiting("child", at: gate)
        let group = GroupOperation("group", child)
        stage.run(input, reader, held, wanting, original, joiner, group)
        stage.queue.addBarrier("flush") {}
        stage.run(stage.noting("later"))
        let snapshot = stage.queue.snapshot()
        func kinds(_ name: String) throws -> [String] {
            try operation(name, in: snapshot).waitsFor.map { "\($0.kind) \($0.source.name)" }
        }
        #expect(try kinds("reader") == ["input input"])
        #expect(try kinds("wanting") == ["exclusion holder"])
        #expect(try operation("wanting", in: snapshot).waitsFor.first?.exclusion == "‘\(name)’")
        #expect(
            try operation("wanting", in: snapshot).cause
                == "‘wanting’ waits for the exclusion ‘\(name)’, after ‘holder’.")
        #expect(try kinds("joiner") == ["original original"])
        #expect(try operation("joiner", in: snapshot).cause == "‘joiner’ shares the outcome of ‘original’.")
        #expect(try kinds("group") == ["child child"])
        #expect(try operation("child", in: snapshot).parent == group.reference)
        #expect(try operation("input", in: snapshot).parent == nil)
        #expect(try kinds("later") == ["barrier flush"])
        gate.open()
        stage.steps.runAll()
    }

    @Test("A snapshot can be encoded and decoded")
    func itCanBeWrittenAndRead() throws {
        let stage = TestQueue(name: "photos", isSuspended: true)
        let first = stage.noting("first")
        let second = stage.noting("second", after: first)
        second.priority = .low
        stage.run(first, second)
        stage.advance(by: .milliseconds(1500))
        let snapshot = stage.queue.snapshot()
        let encoder = JSONEncoder()
        encoder.outputFormatting = .sortedKeys
        let data = try encoder.encode(snapshot)
        let (one, two) = (first.reference.id, second.reference.id)
        #expect(
            String(decoding: data, as: UTF8.self)
                == #"{"isSuspended":true,"name":"photos","number":\#(snapshot.number),"operations":["#
                + #"{"attempt":0,"cause":"‘first’ is ready, and its queue ‘photos’ is suspended: "#
                + #"set its `isSuspended` to false.","id":\#(one),"name":"first","priority":"normal","#
                + #""state":"ready","waitsFor":[]},"#
                + #"{"attempt":0,"cause":"‘second’ waits for ‘first’.","id":\#(two),"name":"second","#
                + #""priority":"low","state":"waiting","#
                + #""waitsFor":[{"kind":"order","source":{"id":\#(one),"name":"first"}}]}],"#
                + #""running":0,"seconds":1.5,"width":64}"#)
        let read = try JSONDecoder().decode(QueueSnapshot.self, from: data)
        #expect(try encoder.encode(read) == data)
        #expect(read.time == .milliseconds(1500))
        #expect(read.operations.map(\.priority) == [.normal, .low])
        #expect(throws: DecodingError.self) {
            try JSONDecoder().decode([OperationState].self, from: Data(#"["undecided"]"#.utf8))
        }
        stage.queue.cancelAll()
    }

    /// The clock is read during a snapshot, and then lets an operation finish that another operation was seen to wait
    /// for.
    @Test func operationsThatFinishDuringASnapshotAreLeftOut() {
        let steps = StepExecutor()
        let clock = TellingClock()
        let queue = AsyncOperationQueue(executor: steps, clock: clock)
        let gate = Gate()
        let source = AsyncOperation("source") { await gate.wait() }
        let waiting = AsyncOperation("waiting") {}.addDependency(source)
        let delayed = AsyncOperation.delay(.seconds(10))
        queue.add(waiting, delayed, source)
        steps.runAll()
        clock.onTime(2) {
            gate.open()
            steps.runAll()
        }
        let snapshot = queue.snapshot()
        #expect(source.ending == "success")
        #expect(snapshot.operations.map(\.name) == ["waiting", "delay"])
        #expect(snapshot.operations.allSatisfy { $0.waitsFor.isEmpty })
        #expect(snapshot.operations[0].cause == "‘waiting’ is about to start.")
        #expect(snapshot.operations[1].cause == "‘delay’ is in its delay, of which 10.0 seconds are left.")
        delayed.cancel()
    }

    @Test("A snapshot keeps no operation alive")
    func itKeepsNothingAlive() {
        let tokens = Tokens()
        let stage = TestQueue()
        let snapshot: QueueSnapshot
        do {
            let (token, missing) = (tokens.make(), stage.noting("missing"))
            let operation = AsyncOperation("operation") { token.touch() }.addDependency(missing)
            stage.queue.add(operation)
            snapshot = stage.queue.snapshot()
            operation.cancel()
        }
        #expect(tokens.alive == 0)
        #expect(snapshot.operations.count == 1)
    }

    /// The graph contains chains, fans and a full queue. The snapshot examines each queue, and the operations that run
    /// there, only once.
    @Test func ofManyOperations() throws {
        let stage = TestQueue(width: 1)
        let gate = Gate()
        let root = stage.waiting("root", at: gate)
        var all: [AnyOperation] = [root]
        for number in 1..<10_000 {
            let operation = AsyncOperation {}
            if number % 3 == 1 { operation.addDependency(all[number - 1]) }
            if number % 3 == 2 { operation.addDependency(root) }
            all.append(operation)
        }
        stage.queue.add(all)
        stage.steps.runAll()
        let snapshot = stage.queue.snapshot()
        #expect(snapshot.operations.count == 10_000)
        let ready = try #require(snapshot.operations.first { $0.state == .ready })
        #expect(ready.cause.hasSuffix("waits for its turn in a queue of width 1, where ‘root’ runs."))
        gate.open()
        stage.steps.runAll()
        #expect(stage.queue.operationCount == 0)
    }

    /// On several threads, no listed operation has finished, and each operation that is waited for is listed.
    @Test func whileOperationsComeAndGo() async {
        let queue = AsyncOperationQueue(maxConcurrentOperationCount: 2)
        for _ in 0..<20 {
            var last = AsyncOperation {}
            var all: [AnyOperation] = [last]
            for _ in 0..<200 {
                last = AsyncOperation { await Task.yield() }.addDependency(last)
                all.append(last)
            }
            queue.add(all)
            var unfinished = Int.max
            while unfinished > 0 {
                let operations = queue.snapshot().operations
                let listed = Set(operations.map(\.id))
                #expect(operations.allSatisfy { $0.state != .finished })
                #expect(operations.allSatisfy { $0.waitsFor.allSatisfy { listed.contains($0.source.id) } })
                #expect(operations.count <= unfinished)
                unfinished = operations.count
                await Task.yield()
            }
        }
    }

    @Test(arguments: ["1e300", "-1e300", "9.3e18"]) func aTimeThatCannotBeIsRefused(seconds: String) throws {
        let written =
            #"{"isSuspended":true,"number":1,"operations":[],"running":0,"seconds":\#(seconds),"width":64}"#
        #expect(throws: DecodingError.self) {
            try JSONDecoder().decode(QueueSnapshot.self, from: Data(written.utf8))
        }
    }

    @Test("A snapshot of a queue whose clock has gone back can be decoded")
    func negativeTime() throws {
        let written = #"{"isSuspended":true,"number":1,"operations":[],"running":0,"seconds":-1.5,"width":64}"#
        let snapshot = try JSONDecoder().decode(QueueSnapshot.self, from: Data(written.utf8))
        #expect(snapshot.time == .milliseconds(-1500))
    }
}

/// A test clock that runs a closure when its time is read.
private final class TellingClock: Clock {
    private let base = TestClock()
    private let call = Locked<(left: Int, body: @Sendable () -> Void)?>(nil)

    /// Calls `body` when the time is read for the `number`th time from now on.
    func onTime(_ number: Int, _ body: @escaping @Sendable () -> Void) { call.withLock { $0 = (number, body) } }

    var now: TestClock.Instant {
        let body = call.withLock { call -> (@Sendable () -> Void)? in
            call?.left -= 1
            return call?.left == 0 ? call?.body : nil
        }
        body?()
        return base.now
    }

    var minimumResolution: Duration { .zero }

    func sleep(until deadline: TestClock.Instant, tolerance: Duration?) async throws {
        try await base.sleep(until: deadline, tolerance: tolerance)
    }
}

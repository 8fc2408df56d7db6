import BatonTesting
import Testing

@testable import Baton

/// Reports of misuse say where the call is, wherever Swift gives the place.
@Suite(.timeLimit(.minutes(10))) struct MisusePlaceTests {
    private static func isHere(_ misuse: Misuse?) -> Bool {
        misuse?.callSite?.contains("MisusePlaceTests.swift:") == true
    }

    private func thrown<Result>(_ body: () throws -> Result) -> Misuse? {
        do { _ = try body() } catch OperationError.misuse(let misuse) { return misuse } catch {}
        return nil
    }

    @Test("A queue and its streams of events")
    func queues() {
        let misuses = EventLog<Misuse>()
        let queue = AsyncOperationQueue(maxConcurrentOperationCount: 0, onMisuse: { misuses($0) })
        _ = queue.events(buffering: .newest(0))
        let operation = AsyncOperation("operation") {}
        queue.isSuspended = true
        queue.add(operation)
        _ = operation.events(buffering: .newest(-1))
        #expect(misuses.events.map(\.kind) == [.invalidWidth(0), .invalidEventLimit(0), .invalidEventLimit(-1)])
        #expect(misuses.events.allSatisfy(Self.isHere))
        operation.cancel()
    }

    @Test("Every way to deliver a sequence")
    func deliveries() {
        struct Twice: InputProcedure {
            func execute(_ input: Int, in context: OperationContext) async throws -> Int { 2 * input }
        }
        let stage = TestQueue()
        let (numbers, stream) = ([1, 2], AsyncStream<Int> { $0.finish() })
        _ = numbers.deliver(to: Twice(), on: stage.queue, width: 0)
        _ = numbers.deliver(on: stage.queue, width: 0) { $0 }
        _ = numbers.deliver(on: stage.queue, width: 0) { number, _ in number }
        _ = stream.deliver(to: Twice(), on: stage.queue, width: 0)
        _ = stream.deliver(on: stage.queue, width: 0) { $0 }
        _ = stream.deliver(on: stage.queue, width: 0) { number, _ in number }
        #expect(stage.misuseKinds == Array(repeating: .invalidDeliveryWidth(0), count: 6))
        #expect(stage.misuses.events.allSatisfy(Self.isHere))
    }

    @Test("A group that is closed")
    func groups() {
        let stage = TestQueue()
        let group = GroupOperation("group")
        stage.run(group)
        #expect(Self.isHere(thrown { try group.add(stage.noting("late")) }))
    }

    @Test("A product of a body that has returned")
    func products() {
        let stage = TestQueue()
        let contexts = EventLog<OperationContext>()
        stage.run(AsyncOperation("former") { contexts($0) })
        #expect(Self.isHere(thrown { try contexts.events[0].produce(stage.noting("late")) }))
    }

    @Test("An operation that cannot join another one")
    func joins() {
        let (stage, names, gate) = (TestQueue(), Names(), Gate())
        let first = AsyncOperation("first") {
            await gate.wait()
            return 1
        }
        .unique(by: names("key"), policy: .join)
        let second = AsyncOperation("second") { "two" }.unique(by: names("key"), policy: .join)
        stage.run(first, second)
        #expect(Self.isHere(thrown { try second.result?.get() }))
        gate.open()
        stage.steps.runAll()
    }

    @Test("A hook around bodies that does not call the body once", arguments: [0, 2])
    func hooks(calls: Int) {
        let stage = TestQueue()
        stage.queue.around { _, body in for _ in 0..<calls { try await body() } }
        let operation = stage.noting("operation")
        stage.run(operation)
        #expect(Self.isHere(operation.error?.underlyingError as? Misuse))
    }

    @Test("A finish that is called twice, or after an error")
    func callbacks() {
        let stage = TestQueue()
        stage.run(
            AsyncOperation<Int>.callback("twice") { finish in
                finish(1)
                finish(2)
                finish(.success(3) as Result<Int, Oops>)
                finish(throwing: Oops())
            },
            AsyncOperation<Void>.callback("nothing") { finish in
                finish()
                finish()
            })
        #expect(stage.misuses.events.count == 4)
        #expect(stage.misuses.events.allSatisfy(Self.isHere), "\(stage.misuses.events)")
    }

    @Test("A run or a sleep of a body that has returned")
    func lateCalls() async {
        let stage = TestQueue()
        let contexts = EventLog<OperationContext>()
        stage.run(AsyncOperation("former") { contexts($0) })
        let context = contexts.events[0]
        func thrown(_ body: () async throws -> Void) async -> Misuse? {
            do { try await body() } catch OperationError.misuse(let misuse) { return misuse } catch {}
            return nil
        }
        #expect(Self.isHere(await thrown { try await context.run(stage.noting("late")) }))
        #expect(Self.isHere(await thrown { try await context.run(stage.noting("late"), weight: 2) }))
        #expect(Self.isHere(await thrown { try await context.sleep(for: .seconds(1)) }))
    }
}

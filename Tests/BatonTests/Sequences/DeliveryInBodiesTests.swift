import BatonTesting
import Testing

@testable import Baton

@Suite(.timeLimit(.minutes(10))) struct DeliveryInBodiesTests {
    @Test(arguments: [1, 2, 64], [OutputOrder.preserved, .arrival]) func aBodyMayIterateOnItsOwnQueue(
        width: Int, order: OutputOrder
    ) {
        let stage = TestQueue(width: width)
        let queue = stage.queue
        let body = AsyncOperation("sum") {
            var sum = 0
            for try await number in Numbers(10).deliver(to: Doubling(), on: queue, order: order) { sum += number }
            return sum
        }
        stage.run(body)
        #expect((try? body.result?.get()) == 90)
        #expect(queue.operationCount == 0)
    }

    /// The operations of upstream need the permit as well, while no operation of the outer sequence is in flight.
    @Test func aBodyMayIterateAChainOnItsOwnQueue() {
        let stage = TestQueue(width: 1)
        let queue = stage.queue
        let body = AsyncOperation("sum") {
            let doubled = Numbers(10).deliver(to: Doubling(), on: queue)
            var sum = 0
            for try await number in doubled.deliver(to: Doubling(), on: queue) { sum += number }
            return sum
        }
        stage.run(body)
        #expect((try? body.result?.get()) == 180)
    }

    @Test func bodiesMayIterateInsideOneAnother() {
        let stage = TestQueue(width: 1)
        let queue = stage.queue
        @Sendable func sum(_ depth: Int) async throws -> Int {
            if depth == 0 { return 1 }
            var total = 0
            for try await part in Numbers(3).deliver(on: queue, { _ in try await sum(depth - 1) }) { total += part }
            return total
        }
        let body = AsyncOperation("sum") { try await sum(4) }
        stage.run(body)
        #expect((try? body.result?.get()) == 81)
    }

    @Test func theBodyTakesItsPermitAgain() {
        let stage = TestQueue(width: 1)
        let (queue, log) = (stage.queue, stage.log)
        let gate = Gate()
        stage.run(
            AsyncOperation("iterates") {
                for try await _ in Numbers(1).deliver(on: queue, { _ in log("element") }) { await gate.wait() }
                log("iterated")
            })
        stage.run(stage.noting("other"))
        #expect(stage.ran == ["element"])
        gate.open()
        stage.steps.runAll()
        #expect(stage.ran.sorted() == ["element", "iterated", "other"])
    }

    @Test("Operations that a body iterates run before a barrier")
    func whatABodyIteratesGoesBeforeABarrier() {
        let stage = TestQueue()
        let (queue, log) = (stage.queue, stage.log)
        let gate = Gate()
        stage.run(
            AsyncOperation("iterates") {
                await gate.wait()
                for try await number in Numbers(2).deliver(to: Doubling(), on: queue) { log("\(number)") }
            })
        queue.addBarrier("barrier") { log("barrier") }
        stage.steps.runAll()
        gate.open()
        stage.steps.runAll()
        #expect(stage.ran == ["0", "2", "barrier"])
    }

    @Test func theBodysCancelReachesWhatItIterates() {
        let stage = TestQueue(width: 1)
        let (queue, log) = (stage.queue, stage.log)
        let body = AsyncOperation("iterates") {
            for try await _ in Numbers(.max).deliver(
                on: queue,
                { _ in
                    do { try await Gate().waitUnlessCancelled() } catch { log("cancelled") }
                })
            {}
        }
        stage.run(body)
        body.cancel()
        stage.steps.runAll()
        #expect(stage.ran == ["cancelled"])
        #expect(body.ending == "cancelled on request")
        #expect(queue.operationCount == 0)
    }

    @Test(arguments: [OutputOrder.preserved, .arrival]) func anOperationThatWaitsForTheIteratingOneFails(
        order: OutputOrder
    ) {
        let stage = TestQueue()
        let (queue, log) = (stage.queue, stage.log)
        let body = AsyncOperation("iterates") { context in
            let outputs = Numbers(3).deliver(
                to: Doubling(), on: queue, order: order,
                configure: { [weak outer = context.operation] operation, number in
                    operation.name = "\(number)"
                    if number != 0, let outer { operation.addDependency(outer) }
                })
            for await result in outputs.results {
                switch result {
                case .success(let output): log("\(output)")
                case .failure(let error): log("\(error.cycleNames ?? [])")
                }
            }
        }
        stage.run(body)
        #expect(stage.ran.sorted() == ["0", #"["1", "iterates"]"#, #"["2", "iterates"]"#])
        #expect(body.ending == "success")
    }

    @Test("An element's operation that was added before and depends on the iterating operation is a cycle")
    func oneThatWasAddedBeforeAndAwaitsTheIteratingOneIsNotWaitedFor() {
        let stage = TestQueue()
        let queue = stage.queue
        let errors = EventLog<String>()
        let body = AsyncOperation<Void>("iterates") { context in
            let outputs = Numbers(1).deliver(
                to: Doubling(), on: queue,
                configure: { operation, _ in
                    operation.name = "element"
                    operation.addDependency(context.operation)
                    queue.add(operation)
                })
            for await result in outputs.results {
                if case .failure(let error) = result { errors("\(error.cycleNames ?? [])") }
            }
        }
        stage.run(body)
        #expect(errors.events == [#"["element", "iterates"]"#])
        #expect(body.ending == "success")
    }

    @Test(
        "An operation that needs the exclusion of the iterating one fails",
        arguments: [OutputOrder.preserved, .arrival])
    func whatNeedsTheNameOfTheIteratingOneFails(
        order: OutputOrder
    ) {
        let stage = TestQueue()
        let (queue, log) = (stage.queue, stage.log)
        let body = AsyncOperation("iterates") {
            let outputs = Numbers(3).deliver(
                to: Doubling(), on: queue, order: order,
                configure: { operation, number in
                    if number == 1 { operation.addCondition(.mutuallyExclusive("delivery \(order)")) }
                })
            for await result in outputs.results {
                switch result {
                case .success(let output): log("\(output)")
                case .failure(.exclusionDeadlock): log("deadlock")
                case .failure(let error): log(error.inShort)
                }
            }
        }.addCondition(.mutuallyExclusive("delivery \(order)"))
        stage.run(body)
        #expect(stage.ran.sorted() == ["0", "4", "deadlock"])
        #expect(body.ending == "success")
    }

    /// An iterator that the body leaves to other code does not retain the body. Operations that it starts later do not
    /// belong to the body.
    @Test func anIteratorMayOutliveTheBody() {
        final class Holder: Sendable {
            nonisolated(unsafe) var iterator: OperationOutputs<Numbers<Never>, Int>.Iterator?
        }
        let stage = TestQueue(width: 1)
        let (queue, holder, tokens) = (stage.queue, Holder(), Tokens())
        stage.run(
            AsyncOperation("iterates") { () -> Token in
                holder.iterator = Numbers(5).deliver(to: Doubling(), on: queue, width: 1).makeAsyncIterator()
                _ = try await holder.iterator?.next()
                return tokens.make()
            })
        #expect(tokens.alive == 0)
        stage.steps.task { [log = stage.log] in
            while let number = try? await holder.iterator?.next() { log("\(number)") }
        }
        stage.steps.runAll()
        #expect(stage.ran == ["2", "4", "6", "8"])
    }

    @Test func aBodyThatHasLeftItsLoopMayAwaitWhatWaitsForAnElement() {
        let stage = TestQueue()
        let (queue, log) = (stage.queue, stage.log)
        let (gate, elements) = (Gate(), EventLog<AnyOperation>())
        let body = AsyncOperation("iterates") { context in
            let outputs = Numbers(2).deliver(
                on: queue, configure: { operation, _ in elements(operation) },
                { number in if number == 1 { await gate.wait() } })
            for try await _ in outputs { break }
            try await context.run(AsyncOperation("after") { log("after") }.addDependency(elements.events[1]))
        }
        stage.run(body)
        #expect(body.explain().roots.map(\.operation.id) == [elements.events[1].reference.id])
        gate.open()
        stage.steps.runAll()
        #expect(stage.ran == ["after"])
        #expect(body.ending == "success")
    }

    @Test("A search that reads a few of the operations that a body waits for does not get all of an iteration")
    func limitedWaits() {
        let stage = TestQueue(width: 1)
        let queue = stage.queue
        let gate = Gate()
        let body = AsyncOperation("iterates") {
            for try await _ in Numbers(20).deliver(
                on: queue, width: 20, configure: { operation, number in operation.name = "\(number)" },
                { _ in await gate.wait() })
            {}
        }
        stage.run(body)
        let few = body.waitsFor(first: 8)
        #expect(few.operations.map(\.name) == (12..<20).map { "\($0)" })
        #expect(!few.isComplete)
        let all = body.waitsFor(first: 21)
        #expect(all.operations.map(\.name) == (0..<20).map { "\($0)" })
        #expect(all.isComplete)
        gate.open()
        stage.steps.runAll()
        #expect(body.ending == "success")
    }

    @Test func explainNamesWhatTheBodyWaitsFor() {
        let stage = TestQueue(width: 1)
        let queue = stage.queue
        let (elements, gate) = (Gate(), Gate())
        let body = AsyncOperation("iterates") {
            let numbers = Numbers(1, gate: elements)
            for try await _ in numbers.deliver(
                on: queue, configure: { operation, _ in operation.name = "element" },
                { _ in await gate.wait() })
            {}
        }
        stage.run(body)
        #expect(body.explain().waitsFor == [])
        #expect(body.explain().roots.map(\.cause) == [.awaitingElement])
        elements.open()
        stage.steps.runAll()
        #expect(body.explain().waitsFor.map(\.name) == ["element"])
        gate.open()
        stage.steps.runAll()
        #expect(body.ending == "success")
    }

    // MARK: Upstream

    /// How the elements that a body delivers come from operations on the same queue.
    enum Upstream: CaseIterable {
        case chain, pages

        /// Returns the numbers from 0 up to, but not including, `count`. An operation calls `body` with each of them.
        func numbers(
            _ count: Int, on queue: AsyncOperationQueue, _ body: @escaping @Sendable (Int) async throws -> Void
        ) -> AsyncThrowingStream<Int, any Error> {
            let next: @Sendable () async throws -> Int?
            switch self {
            case .chain:
                final class Holder: Sendable {
                    nonisolated(unsafe) var iterator: OperationOutputs<Numbers<Never>, Int>.Iterator

                    init(_ iterator: OperationOutputs<Numbers<Never>, Int>.Iterator) { self.iterator = iterator }
                }
                let outputs = Numbers(count).deliver(
                    on: queue, width: 1, configure: { operation, number in operation.name = "\(number)" },
                    { number in
                        try await body(number)
                        return number
                    })
                let holder = Holder(outputs.makeAsyncIterator())
                next = { try await holder.iterator.next() }
            case .pages:
                let taken = Tally()
                next = {
                    let number = taken.count
                    taken.add()
                    if number == count { return nil }
                    return try await queue.run(
                        AsyncOperation("\(number)") {
                            try await body(number)
                            return number
                        })
                }
            }
            return AsyncThrowingStream(unfolding: next)
        }
    }

    @Test(
        "A body that does not wait for an output keeps its permit, although upstream waits",
        arguments: Upstream.allCases)
    func aBodyKeepsItsPermitWhileUpstreamWaits(upstream: Upstream) {
        let stage = TestQueue(width: 1)
        let (queue, log) = (stage.queue, stage.log)
        let gate = Gate()
        let body = AsyncOperation("iterates") {
            for try await number in upstream.numbers(3, on: queue, { number in log("\(number)") })
                .deliver(on: queue, { number in number })
            {
                if number == 0 { await gate.wait() }
                log("has \(number)")
            }
        }
        stage.run(body)
        stage.run(stage.noting("other"))
        #expect(stage.ran == ["0"])
        gate.open()
        stage.steps.runAll()
        #expect(stage.ran.sorted() == ["0", "1", "2", "has 0", "has 1", "has 2", "other"])
        #expect(body.ending == "success")
    }

    @Test("A body that has left its loop does not wait for what upstream has run", arguments: Upstream.allCases)
    func aBodyThatHasLeftItsLoopDoesNotWaitForUpstream(upstream: Upstream) {
        let stage = TestQueue()
        let (queue, log) = (stage.queue, stage.log)
        let (gate, end) = (Gate(), Gate())
        let body = AsyncOperation("iterates") { (context: OperationContext) in
            let operation = context.operation
            let numbers = upstream.numbers(3, on: queue) { number in
                if number != 1 { return }
                await gate.wait()
                do { try await operation.waitUntilFinished() } catch { log("\(error)") }
                log("awaited")
            }
            for try await _ in numbers.deliver(on: queue, { number in number }) { break }
            gate.open()
            await end.wait()
        }
        stage.run(body)
        #expect(body.explain().waitsFor == [])
        #expect(stage.ran == [])
        end.open()
        stage.steps.runAll()
        #expect(stage.ran == ["awaited"])
        #expect(body.ending == "success")
    }

    @Test("What upstream runs after the body has ended comes from outside", arguments: Upstream.allCases)
    func upstreamMayOutliveTheBody(upstream: Upstream) {
        final class Holder: Sendable {
            nonisolated(unsafe) var iterator: OperationOutputs<AsyncThrowingStream<Int, any Error>, Int>.Iterator?
        }
        let stage = TestQueue(width: 2)
        let (queue, holder, tokens, log) = (stage.queue, Holder(), Tokens(), stage.log)
        stage.run(
            AsyncOperation("iterates") { () -> Token in
                let numbers = upstream.numbers(9, on: queue) { number in log("\(number)") }
                holder.iterator = numbers.deliver(on: queue, width: 1, { number in number }).makeAsyncIterator()
                _ = try await holder.iterator?.next()
                return tokens.make()
            })
        #expect(tokens.alive == 0)
        let (gate, slow) = (Gate(), Gate())
        stage.steps.task {
            while let number = try? await holder.iterator?.next() {
                log("has \(number)")
                if number == 3 { await gate.wait() }
            }
        }
        stage.run(stage.waiting("slow", at: slow))
        queue.addBarrier("barrier") { log("barrier") }
        gate.open()
        stage.steps.runAll()
        #expect(stage.ran.contains("has 3"))
        #expect(!stage.ran.contains("8"))
        slow.open()
        stage.steps.runAll()
        #expect(stage.ran.contains("barrier"))
        #expect(log.events.last == "has 8")
    }

    @Test("Explanations name the operation for which upstream waits", arguments: Upstream.allCases)
    func explainNamesWhatUpstreamWaitsFor(upstream: Upstream) {
        let stage = TestQueue(width: 1)
        let queue = stage.queue
        let gate = Gate()
        let body = AsyncOperation("iterates") {
            for try await _ in upstream.numbers(1, on: queue, { _ in await gate.wait() })
                .deliver(on: queue, { number in number })
            {}
        }
        stage.run(body)
        #expect(body.explain().waitsFor.map(\.name) == ["0"])
        gate.open()
        stage.steps.runAll()
        #expect(body.ending == "success")
    }
}

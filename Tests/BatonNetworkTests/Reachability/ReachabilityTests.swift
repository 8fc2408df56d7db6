import Baton
import BatonNetwork
import BatonTesting
import Testing

@Suite(.timeLimit(.minutes(10))) struct ReachabilityTests {
    let clock = TestClock()
    let queue = AsyncOperationQueue()

    private func reachable(_ port: Port, waitToConnect: Bool = false) -> Reachability {
        Reachability(host: "127.0.0.1", port: port.number, waitToConnect: waitToConnect, clock: clock)
    }

    /// Returns when the condition waits for its next attempt, and not for the result of an attempt.
    private func waitUntilPaused() async {
        while clock.nextDeadline != clock.now.advanced(by: .seconds(1)) { await Task.yield() }
    }

    @Test(arguments: ["127.0.0.1", "localhost"]) func aHostThatTakesAConnectionLetsTheOperationRun(host: String)
        async throws
    {
        let port = try Port()
        port.listen()
        let operation = AsyncOperation { 7 }.addCondition(.reachable(host, port: port.number, clock: clock))
        #expect(try await queue.run(operation) == 7)
        #expect(clock.sleeperCount == 0)
    }

    @Test(arguments: ["::1", "[::1]"]) func anIPv6AddressMayHaveBrackets(host: String) async throws {
        let failure = try await Reachability(host: host, port: 1, clock: clock).failure()
        if case .unresolved = failure { Issue.record("\(host) is an address") }
    }

    @Test func AOperationPages_8_withoutWaitToConnectTheHostIsTriedOnce() async throws {
        let port = try Port()
        let operation = AsyncOperation("upload") { 7 }.addCondition(reachable(port))
        await #expect(throws: OperationError.self) { try await queue.run(operation) }
        guard case .conditionFailed(let name, let cause)? = operation.error else {
            Issue.record("\(operation)")
            return
        }
        #expect(name == "127.0.0.1:\(port.number) is reachable")
        #expect(
            cause as? ReachabilityError
                == .unreachable(host: "127.0.0.1", port: port.number, reason: "Connection refused"))
    }

    @Test(arguments: [0, -1, 65536, .max]) func anInvalidPortIsAnError(number: Int) async throws {
        for waits in [true, false] {
            let reachability = Reachability(host: "127.0.0.1", port: number, waitToConnect: waits, clock: clock)
            let operation = AsyncOperation { 7 }.addCondition(reachability)
            await #expect(throws: OperationError.self) { try await queue.run(operation) }
            #expect(operation.error?.underlyingError as? ReachabilityError == .invalidPort(number))
        }
    }

    @Test(arguments: ["", "256.256.256.256", "no such host", "localhost\0", "nowhere.invalid"])
    func aNameWithoutAnAddressIsAnError(host: String) async throws {
        let failure = try await Reachability(host: host, port: 80, clock: clock).failure()
        guard case .unresolved(host: host, let reason)? = failure else {
            Issue.record("\(String(describing: failure))")
            return
        }
        #expect(!reason.isEmpty)
    }

    @Test("The check gives up on a host that does not answer")
    func anAttemptTimesOut() async throws {
        let port = try Port()
        port.listenWithoutAccepting()
        async let failure = reachable(port).failure()
        await clock.waitForSleepers(count: 1)
        clock.advance(by: .seconds(5))
        #expect(try await failure == .timedOut(host: "127.0.0.1", port: port.number, after: .seconds(5)))
    }

    // MARK: Waiting

    @Test func AOperationPages_8_withWaitToConnectTheConditionWaitsForAConnection() async throws {
        let port = try Port()
        let operation = AsyncOperation("upload") { 7 }.addCondition(reachable(port, waitToConnect: true))
        queue.add(operation)
        for _ in 0..<3 {
            await waitUntilPaused()
            #expect(operation.state == .evaluating)
            clock.advance(by: .seconds(1))
        }
        await waitUntilPaused()
        #expect(
            "\(operation.explain())"
                == "‘upload’ waits for the answer of the condition ‘127.0.0.1:\(port.number) is reachable’: "
                + "its `evaluate` has not returned.")
        port.listen()
        #expect(operation.state == .evaluating)
        clock.advance(by: .seconds(1))
        #expect(try await operation.value == 7)
    }

    @Test func anOperationThatWaitsForAHostHoldsNoPermit() async throws {
        let narrow = AsyncOperationQueue(maxConcurrentOperationCount: 1)
        let port = try Port()
        let operation = AsyncOperation { 7 }.addCondition(reachable(port, waitToConnect: true))
        narrow.add(operation)
        await waitUntilPaused()
        for number in 0..<10 { #expect(try await narrow.run(AsyncOperation { number }) == number) }
        operation.cancel()
    }

    @Test func aCancelEndsThePauseAtOnce() async throws {
        let port = try Port()
        let operation = AsyncOperation { 7 }.addCondition(reachable(port, waitToConnect: true))
        queue.add(operation)
        await waitUntilPaused()
        operation.cancel()
        await #expect(throws: OperationError.self) { try await operation.value }
        #expect(operation.isCancelled)
        #expect(clock.sleeperCount == 0)
    }

    @Test func aCancelEndsAnAttemptAtOnce() async throws {
        let port = try Port()
        port.listenWithoutAccepting()
        for _ in 0..<100 {
            let operation = AsyncOperation { 7 }.addCondition(reachable(port))
            queue.add(operation)
            await clock.waitForSleepers(count: 1)
            operation.cancel()
            await #expect(throws: OperationError.self) { try await operation.value }
            #expect(clock.sleeperCount == 0)
        }
    }

    @Test func aCheckOnACancelledTaskThrows() async throws {
        let port = try Port()
        port.listen()
        let task = Task {
            withUnsafeCurrentTask { $0?.cancel() }
            return try await reachable(port).failure()
        }
        await #expect(throws: CancellationError.self) { try await task.value }
    }

    /// If attempts blocked threads of the pool, a few of them would stop all tasks.
    @Test func manyPendingAttemptsDoNotBlockTheThreads() async throws {
        let port = try Port()
        port.listenWithoutAccepting()
        let operations = (0..<100).map { _ in AsyncOperation { 7 }.addCondition(reachable(port)) }
        queue.add(operations)
        await clock.waitForSleepers(count: 100)
        #expect(try await queue.run(AsyncOperation { 8 }) == 8)
        for operation in operations { operation.cancel() }
        await queue.waitUntilIdle()
    }

    // MARK: Changes

    @Test func AOperationPages_9_theSequenceDeliversChangesOnly() async throws {
        let port = try Port()
        port.listen()
        let reported = EventLog<Bool>()
        let changes = reachable(port).changes
        let task = Task {
            for await status in changes { reported(status.isReachable) }
        }
        await reported.waitForCount(1)
        for _ in 0..<3 { await passAnInterval() }
        #expect(reported.events == [true])
        try port.stopListening()
        await passAnInterval()
        await reported.waitForCount(2)
        for _ in 0..<3 { await passAnInterval() }
        #expect(reported.events == [true, false])
        port.listen()
        await passAnInterval()
        await reported.waitForCount(3)
        #expect(reported.events == [true, false, true])
        await waitUntilPaused()
        task.cancel()
        await task.value
        #expect(clock.sleeperCount == 0)
    }

    private func passAnInterval() async {
        await waitUntilPaused()
        clock.advance(by: .seconds(1))
        await waitUntilPaused()
    }

    @Test func noAttemptIsMadeWhileNobodyAwaitsAChange() async throws {
        let port = try Port()
        var iterator = reachable(port).changes.makeAsyncIterator()
        #expect(clock.sleeperCount == 0)
        #expect(
            await iterator.next()
                == .unreachable(
                    .unreachable(host: "127.0.0.1", port: port.number, reason: "Connection refused")))
        #expect(clock.sleeperCount == 0)
    }

    @Test func theSequenceEndsWithItsTask() async throws {
        let port = try Port()
        port.listenWithoutAccepting()
        let changes = reachable(port).changes
        let task = Task {
            var iterator = changes.makeAsyncIterator()
            let first = await iterator.next()
            return (first, await iterator.next())
        }
        await clock.waitForSleepers(count: 1)
        task.cancel()
        let both = await task.value
        #expect(both == (nil, nil))
    }

    @Test(arguments: [Duration.seconds(Int64.max), Duration(attoseconds: .max)])
    func anInfiniteIntervalAndTimeoutEndOnCancellation(_ longest: Duration) async throws {
        let port = try Port()
        let reported = EventLog<Bool>()
        let reachability = Reachability(host: "127.0.0.1", port: port.number, timeout: longest, interval: longest)
        let task = Task {
            for await status in reachability.changes { reported(status.isReachable) }
        }
        await reported.waitForCount(1)
        task.cancel()
        await task.value
        #expect(reported.events == [false])
    }

    // MARK: Resources

    #if os(Linux)
        /// The test has a process of its own, in which no other test opens descriptors.
        @Test func aThousandAttemptsLeaveNoDescriptorAndNoThread() async {
            await #expect(processExitsWith: .success) {
                let port = try Port()
                let silent = try Port()
                silent.listenWithoutAccepting()
                let clock = TestClock()
                let before = ResourceCount.sockets
                for round in 0..<1000 {
                    if round == 500 { port.listen() }
                    let failure = try await Reachability(host: "127.0.0.1", port: port.number, clock: clock).failure()
                    precondition((failure == nil) == (round >= 500))
                    let number = silent.number
                    let task = Task { try await Reachability(host: "127.0.0.1", port: number, clock: clock).failure() }
                    await clock.waitForSleepers(count: 1)
                    task.cancel()
                    _ = await task.result
                }
                // The threads of cancelled attempts end shortly afterwards, and the last one may not have its name yet,
                // so the loop also counts sockets.
                while ResourceCount.sockets > before || ResourceCount.threads("Baton connects") > 0 {
                    await Task.yield()
                }
            }
        }
    #endif
}

import BatonTesting
import Testing

@testable import Baton

@Suite(.timeLimit(.minutes(10))) struct DeliveryScheduleTests {
    /// An element that counts the living elements and their maximum.
    private final class Parcel: Sendable {
        let number: Int
        private let onTheWay: Tally
        init(_ number: Int, _ onTheWay: Tally, most: Tally) {
            self.number = number
            self.onTheWay = onTheWay
            onTheWay.add()
            most.raise(to: onTheWay.count)
        }
        deinit { onTheWay.add(-1) }
    }

    @Test(arguments: [OutputOrder.preserved, .arrival]) func veryManyTakeNoMoreRoomThanTen(
        order: OutputOrder
    ) async throws {
        let queue = AsyncOperationQueue()
        let (onTheWay, most, next) = (Tally(), Tally(), Tally())
        let upstream = AsyncStream<Parcel>(unfolding: {
            next.add()
            return next.count > veryMany ? nil : Parcel(next.count, onTheWay, most: most)
        })
        var (count, sum, last, isSorted) = (0, 0, 0, true)
        for try await parcel in upstream.deliver(on: queue, width: 8, order: order, { parcel in parcel }) {
            count += 1
            sum += parcel.number
            isSorted = isSorted && parcel.number > last
            last = parcel.number
        }
        #expect(count == veryMany)
        #expect(sum == veryMany * (veryMany + 1) / 2)
        #expect(order == .arrival || isSorted)
        // In addition to the eight operations, the consumer and each operation that is being released hold one
        // element.
        #expect(most.count <= 8 + 8)
    }

    @Test func underEverySchedule() async throws {
        try await exploring(schedules: tries(500)) { scheduler in
            let queue = AsyncOperationQueue(
                maxConcurrentOperationCount: scheduler.random(in: 1...3), executor: scheduler)
            let width = scheduler.random(in: 1...4)
            let count = scheduler.random(in: 0...8)
            let failing = scheduler.random(in: 0...12)
            let cancelled = scheduler.random(in: 0...12)
            let order: OutputOrder = scheduler.random(in: 0...1) == 0 ? .preserved : .arrival
            let (inFlight, most, consumed) = (Tally(), Tally(), Tally())
            let numbers = Numbers(count)
            let outputs = numbers.deliver(on: queue, width: width, order: order) { number in
                inFlight.add()
                most.raise(to: inFlight.count)
                for _ in 0..<number % 3 { await Task.yield() }
                inFlight.add(-1)
                if number == failing { throw Oops() }
                return number
            }
            let consumer = Task(executorPreference: scheduler) { () -> ([Int], String) in
                var found: [Int] = []
                do throws(OperationError) {
                    for try await number in outputs {
                        found.append(number)
                        consumed.add()
                        if numbers.taken.count - consumed.count > width { return (found, "too many") }
                        if found.count == cancelled { withUnsafeCurrentTask { $0?.cancel() } }
                    }
                } catch { return (found, error.inShort) }
                return (found, "end")
            }
            let (found, ending) = await consumer.value
            // No operation runs after the consumer has ended.
            try #require(queue.operationCount == 0 || ending == "end" || inFlight.count == 0)
            try #require(inFlight.count == 0)
            try #require(most.count <= width)
            try #require(numbers.iterators.alive == 0)
            try #require(order == .arrival || found == Array(0..<found.count))
            switch ending {
            case "end": try #require(found.sorted() == Array(0..<count))
            case "failed: oops": try #require(failing < count && !found.contains(failing))
            default:
                try #require(ending == "cancelled with the task that awaited it")
                try #require(found.count == cancelled)
            }
        }
    }

    @Test(arguments: [OutputOrder.preserved, .arrival]) func underThreadsNothingGoesOnBehindACancel(
        order: OutputOrder
    ) async {
        let queue = AsyncOperationQueue(maxConcurrentOperationCount: 2)
        for round in 0..<tries(500) {
            let (running, numbers) = (Tally(), Numbers(.max))
            let outputs = numbers.deliver(on: queue, width: 1 + round % 4, order: order) { number in
                running.add()
                defer { running.add(-1) }
                await Task.yield()
                if number == 40 { throw Oops() }
                return number
            }
            let consumer = Task { for try await _ in outputs {} }
            for _ in 0..<round % 50 { await Task.yield() }
            consumer.cancel()
            _ = await consumer.result
            #expect(running.count == 0)
            #expect(numbers.iterators.alive == 0)
        }
        await queue.waitUntilIdle()
    }

    /// Other code cancels, at any moment.
    @Test func aCancelAtAnyMoment() async throws {
        try await exploring(schedules: tries(500)) { scheduler in
            let queue = AsyncOperationQueue(
                maxConcurrentOperationCount: scheduler.random(in: 1...3), executor: scheduler)
            let numbers = Numbers(scheduler.random(in: 0...6))
            let tokens = Tokens()
            let isInBody = scheduler.random(in: 0...1) == 0
            let running = Tally()
            let outputs = numbers.deliver(on: queue, width: scheduler.random(in: 1...3)) { number in
                running.add()
                await Task.yield()
                running.add(-1)
                return tokens.make()
            }
            let iterate: @Sendable () async throws -> Void = {
                for try await _ in outputs { await Task.yield() }
            }
            let delay = scheduler.random(in: 0...20)
            if isInBody {
                let body = queue.add(body: iterate)
                for _ in 0..<delay { await Task.yield() }
                body.cancel()
                _ = try? await body.value
            } else {
                let consumer = Task(executorPreference: scheduler) { try await iterate() }
                for _ in 0..<delay { await Task.yield() }
                consumer.cancel()
                _ = await consumer.result
            }
            try #require(running.count == 0)
            try #require(numbers.iterators.alive == 0)
            await queue.waitUntilIdle()
            try #require(tokens.alive == 0)
        }
    }
}

extension AsyncOperationQueue {
    fileprivate func add(body: @escaping @Sendable () async throws -> Void) -> AsyncOperation<Void> {
        add("iterates", body)
    }
}

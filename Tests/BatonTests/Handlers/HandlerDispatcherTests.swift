import Testing

@testable import Baton

@Suite struct HandlerDispatcherTests {
    private let operations = (0..<20).map { _ in AsyncOperation {} }

    /// Appends an operation. Returns true if a task has to be started. The suite owns the operations: a dispatcher that
    /// still contains some when a test ends does not release them.
    private func append(_ number: Int, to deliveries: inout HandlerDispatcher) -> Bool {
        deliveries.append(Retained(handedOver: Unretained(operations[number])))
    }

    /// Returns the next action of a task in short form: the number of an operation, with a plus if another task has to
    /// be started.
    private func turn(_ deliveries: inout HandlerDispatcher, isSliceOver: Bool = false, idleYields: Int = 0) -> String {
        switch deliveries.nextAction(isSliceOver: isSliceOver, idleYields: idleYields) {
        case .call(let operation, let isFollowed):
            let taken = operation.handOver()
            let number = operations.firstIndex { taken.refers(to: $0) }
            return "\(number!)" + (isFollowed ? "+" : "")
        case .yield: return "yield"
        case .end: return "end"
        }
    }

    @Test("Several operations start one task")
    func oneTaskIsStartedForSeveralOperations() {
        var deliveries = HandlerDispatcher()
        let starts = (0..<3).map { append($0, to: &deliveries) }
        #expect(starts == [true, false, false])
    }

    @Test func anotherTaskStartsWhileOperationsArePending() {
        var deliveries = HandlerDispatcher()
        for number in 0..<3 { _ = append(number, to: &deliveries) }
        deliveries.taskStarted()
        #expect(turn(&deliveries) == "0+")
        deliveries.callsEnded()
        #expect(turn(&deliveries) == "1", "Another one is coming already.")
        deliveries.taskStarted()
        #expect(turn(&deliveries) == "2")
    }

    /// The first task may stay in its handler forever.
    @Test func anOperationThatIsAppendedWhileAHandlerRunsStartsATask() {
        var deliveries = HandlerDispatcher()
        #expect(append(0, to: &deliveries))
        deliveries.taskStarted()
        #expect(turn(&deliveries) == "0")
        #expect(append(1, to: &deliveries))
        #expect(!append(2, to: &deliveries))
    }

    @Test func aTaskThatYieldsIsComing() {
        var deliveries = HandlerDispatcher()
        _ = append(0, to: &deliveries)
        deliveries.taskStarted()
        #expect(turn(&deliveries) == "0")
        deliveries.callsEnded()
        #expect(turn(&deliveries) == "yield")
        #expect(!append(1, to: &deliveries))
        deliveries.taskStarted()
        #expect(turn(&deliveries) == "1")
    }

    @Test func aTaskThatFindsNothingLosesItsPatience() {
        var deliveries = HandlerDispatcher()
        _ = append(0, to: &deliveries)
        deliveries.taskStarted()
        _ = turn(&deliveries)
        deliveries.callsEnded()
        for idleYields in 0...HandlerDispatcher.maxIdleYields {
            #expect(turn(&deliveries, idleYields: idleYields) == "yield")
            deliveries.taskStarted()
        }
        #expect(turn(&deliveries, idleYields: HandlerDispatcher.maxIdleYields + 1) == "end")
        #expect(append(1, to: &deliveries))
    }

    /// Two tasks are enough to take turns. Handlers that suspended at the same time may have left many tasks.
    @Test func tasksEndWhenEnoughAreComing() {
        var deliveries = HandlerDispatcher()
        for number in 0..<3 {
            _ = append(number, to: &deliveries)
            deliveries.taskStarted()
            #expect(turn(&deliveries) == "\(number)")
        }
        #expect(turn(&deliveries) == "yield")
        #expect(turn(&deliveries) == "yield")
        #expect(turn(&deliveries) == "end")
    }

    @Test func aTaskWhoseSliceIsOverTakesNothing() {
        var deliveries = HandlerDispatcher()
        for number in 0..<2 { _ = append(number, to: &deliveries) }
        deliveries.taskStarted()
        #expect(turn(&deliveries, isSliceOver: true) == "yield")
        deliveries.taskStarted()
        #expect(turn(&deliveries) == "0+")
    }

    @Test("The dispatcher is idle when every call has ended")
    func itIsIdleWhenEveryCallHasEnded() {
        var deliveries = HandlerDispatcher()
        #expect(deliveries.isIdle)
        _ = append(0, to: &deliveries)
        _ = append(0, to: &deliveries)
        deliveries.taskStarted()
        #expect(turn(&deliveries) == "0+")
        deliveries.callsEnded()
        #expect(!deliveries.isIdle)
        #expect(turn(&deliveries) == "0")
        #expect(!deliveries.isIdle)
        deliveries.callsEnded()
        #expect(deliveries.isIdle)
    }

    @Test("The dispatcher lists the operations in the order in which their handlers were called")
    func operationsInOrderOfTheirCalls() {
        var dispatcher = HandlerDispatcher()
        for number in operations.indices { _ = append(number, to: &dispatcher) }
        for _ in operations {
            dispatcher.taskStarted()
            _ = turn(&dispatcher)
        }
        #expect(dispatcher.operationsInHandlers() == operations)
    }

    @Test("An operation that two tasks have taken is listed until both have returned")
    func operationThatIsDueTwice() {
        var dispatcher = HandlerDispatcher()
        _ = append(0, to: &dispatcher)
        dispatcher.taskStarted()
        _ = turn(&dispatcher)
        _ = append(0, to: &dispatcher)
        dispatcher.taskStarted()
        _ = turn(&dispatcher)
        // The second task has found that the first one calls all handlers.
        dispatcher.returned(from: Unretained(operations[0]))
        #expect(dispatcher.operationsInHandlers() == [operations[0]])
        dispatcher.returned(from: Unretained(operations[0]))
        #expect(dispatcher.operationsInHandlers().isEmpty)
    }

    @Test("The dispatcher lists the operations whose handlers are being called")
    func operationsInHandlers() {
        var dispatcher = HandlerDispatcher()
        for number in 0..<3 { _ = append(number, to: &dispatcher) }
        dispatcher.taskStarted()
        #expect(dispatcher.operationsInHandlers().isEmpty)
        #expect(turn(&dispatcher) == "0+")
        #expect(dispatcher.operationsInHandlers() == [operations[0]])
        dispatcher.returned(from: Unretained(operations[0]))
        #expect(dispatcher.operationsInHandlers().isEmpty)
        #expect(dispatcher.completedCount == 0)
        dispatcher.callsEnded()
        #expect(dispatcher.completedCount == 1)
    }
}

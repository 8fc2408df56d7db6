import Baton

/// The common interface of the operations of a round: those with a value, and groups, whose value is empty.
extension AnyOperation {
    var endResult: Result<Value, OperationError>? {
        if let group = self as? GroupOperation { return group.result?.map { Value.nothing } }
        return (self as? AsyncOperation<Value>)?.result
    }

    func awaitedOutcome() async -> Result<Value, OperationError> {
        do throws(OperationError) {
            if let group = self as? GroupOperation {
                try await group.value
                return .success(.nothing)
            }
            return .success(try await (self as! AsyncOperation<Value>).value)
        } catch { return .failure(error) }
    }

    func outcome(runIn context: OperationContext) async -> Result<Value, OperationError> {
        do throws(OperationError) {
            if let group = self as? GroupOperation {
                try await context.run(group)
                return .success(.nothing)
            }
            return .success(try await context.run(self as! AsyncOperation<Value>))
        } catch { return .failure(error) }
    }

    func outcome(runIn queue: AsyncOperationQueue) async -> Result<Value, OperationError> {
        do throws(OperationError) {
            if let group = self as? GroupOperation {
                try await queue.run(group)
                return .success(.nothing)
            }
            return .success(try await queue.run(self as! AsyncOperation<Value>))
        } catch { return .failure(error) }
    }

    func whenFinished(_ handler: @escaping @Sendable (Outcome) async -> Void) {
        if let group = self as? GroupOperation {
            group.didFinish { await handler(Outcome($0.map { Value.nothing })) }
        } else {
            (self as! AsyncOperation<Value>).didFinish { await handler(Outcome($0)) }
        }
    }

    func beforeFinish(_ handler: @escaping @Sendable (Outcome) async -> Void) {
        if let group = self as? GroupOperation {
            group.willFinish { await handler(Outcome($0.map { Value.nothing })) }
        } else {
            (self as! AsyncOperation<Value>).willFinish { await handler(Outcome($0)) }
        }
    }
}

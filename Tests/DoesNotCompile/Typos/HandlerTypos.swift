// Mistakes in conditions, in rules for attempts, in handlers, and in closures of a queue.
// Each mistake stands in one statement and in several. "error: …" is in the message for its line.
import Baton

struct Page: Sendable {
    let title: String
    let size: Int
}

let sample = Page(title: "", size: 0)
let queue = AsyncOperationQueue()
let page = AsyncOperation { sample }
let pages = [page]

// MARK: - Conditions and attempts

func condition() {
    page.addCondition("name") { operation in operation.nmae }  // error: has no member 'nmae'
    page.addCondition("name") { operation in
        let value = operation.nmae  // error: has no member 'nmae'
        return value
    }
    page.addCondition("name") { operation in operation.name }  // error: cannot convert value
    page.addCondition("name") { operation in
        let value = operation.name
        return value  // error: 'String?' to closure result type 'ConditionResult'
    }
    page.addCondition("name") { a, b in ConditionResult.satisfied }  // error: expects 1 argument, but 2 were used
    page.addCondition("name") { a, b in  // error: expects 1 argument, but 2 were used
        let value = ConditionResult.satisfied
        return value
    }
}

func retry() {
    page.retry(attempts: 3) { error in error.stagee == 1 }  // error: has no member 'stagee'
    page.retry(attempts: 3) { error in
        let value = error.stagee == 1  // error: has no member 'stagee'
        return value
    }
    page.retry(attempts: 3) { error in error.description == 1 }  // error: cannot be applied to operands
    page.retry(attempts: 3) { error in
        let value = error.description == 1  // error: cannot be applied to operands of type 'String' and 'Int'
        return value
    }
    page.retry(attempts: 3) { a, b in true }  // error: expects 1 argument, but 2 were used
    page.retry(attempts: 3) { a, b in  // error: expects 1 argument, but 2 were used
        let value = true
        return value
    }
}

func retryOnFailure() {
    page.retryOnFailure { failures, error in error.stagee == failures }  // error: has no member 'stagee'
    page.retryOnFailure { failures, error in
        let value = error.stagee == failures  // error: has no member 'stagee'
        return value
    }
    page.retryOnFailure { failures, error in failures < error.description }  // error: cannot be applied to operands
    page.retryOnFailure { failures, error in
        let value = failures < error.description  // error: cannot be applied to operands of type 'Int' and 'String'
        return value
    }
    page.retryOnFailure { a in true }  // error: expects 2 arguments, but 1 was used
    page.retryOnFailure { a in  // error: expects 2 arguments, but 1 was used
        let value = true
        return value
    }
}

func repeats() {
    page.repeat(every: .seconds(1)) { page in page.sise > 3 }  // error: has no member 'sise'
    page.repeat(every: .seconds(1)) { page in
        let value = page.sise > 3  // error: has no member 'sise'
        return value
    }
    page.repeat(every: .seconds(1)) { page in page.size > page.title }  // error: cannot convert value
    page.repeat(every: .seconds(1)) { page in
        let value = page.size > page.title  // error: 'String' to expected argument type 'Int'
        return value
    }
    page.repeat(every: .seconds(1)) { a, b in true }  // error: expects 1 argument, but 2 were used
    page.repeat(every: .seconds(1)) { a, b in  // error: expects 1 argument, but 2 were used
        let value = true
        return value
    }
}

func honoring() {
    _ = Backoff.standard.honoring { error in error.stagee }  // error: has no member 'stagee'
    _ = Backoff.standard.honoring { error in
        let value = error.stagee  // error: has no member 'stagee'
        return value
    }
    _ = Backoff.standard.honoring { error in error.description }  // error: 'String' to closure result type 'Duration?'
    _ = Backoff.standard.honoring { error in
        let value = error.description
        return value  // error: 'String' to closure result type 'Duration'
    }
    _ = Backoff.standard.honoring { a, b in Duration.zero }  // error: expects 1 argument, but 2 were used
    _ = Backoff.standard.honoring { a, b in  // error: expects 1 argument, but 2 were used
        let value = Duration.zero
        return value
    }
}

func jittered() {
    _ = Backoff.standard.jittered { range in range.lowerBond }  // error: has no member 'lowerBond'
    _ = Backoff.standard.jittered { range in
        let value = range.lowerBond  // error: has no member 'lowerBond'
        return value
    }
    _ = Backoff.standard.jittered { range in range.description }  // error: 'String' to closure result type 'Double'
    _ = Backoff.standard.jittered { range in
        let value = range.description
        return value  // error: 'String' to closure result type 'Double'
    }
    _ = Backoff.standard.jittered { a, b in 1.0 }  // error: expects 1 argument, but 2 were used
    _ = Backoff.standard.jittered { a, b in  // error: expects 1 argument, but 2 were used
        let value = 1.0
        return value
    }
}

func breaker() {
    _ = CircuitBreaker("name", failures: 3, retryAfter: .seconds(1)) { error in
        error.stagee == 1  // error: has no member 'stagee'
    }
    _ = CircuitBreaker("name", failures: 3, retryAfter: .seconds(1)) { error in
        let value = error.stagee == 1  // error: has no member 'stagee'
        return value
    }
    _ = CircuitBreaker("name", failures: 3, retryAfter: .seconds(1)) { error in
        error.description == 1  // error: cannot be applied to operands of type 'String' and 'Int'
    }
    _ = CircuitBreaker("name", failures: 3, retryAfter: .seconds(1)) { error in
        let value = error.description == 1  // error: cannot be applied to operands of type 'String' and 'Int'
        return value
    }
    _ = CircuitBreaker("name", failures: 3, retryAfter: .seconds(1)) { a, b in  // error: expects 1 argument
        true
    }
    _ = CircuitBreaker("name", failures: 3, retryAfter: .seconds(1)) { a, b in  // error: expects 1 argument
        let value = true
        return value
    }
}

// MARK: - Handlers

func didStart() {
    page.didStart { print(sample.titel) }  // error: has no member 'titel'
    page.didStart {
        let value = sample.titel  // error: has no member 'titel'
        print(value)
    }
    page.didStart { print(sample.size + sample.title) }  // error: cannot be applied to operands
    page.didStart {
        let value = sample.size + sample.title  // error: cannot be applied to operands of type 'Int' and 'String'
        print(value)
    }
    page.didStart { a, b in print(sample.title) }  // error: expects 0 arguments, but 2 were used
    page.didStart { a, b in  // error: expects 0 arguments, but 2 were used
        let value = 1
        print(value)
    }
}

func didCancel() {
    page.didCancel { reason in print(reason.descriptoin) }  // error: has no member 'descriptoin'
    page.didCancel { reason in
        let value = reason.descriptoin  // error: has no member 'descriptoin'
        print(value)
    }
    page.didCancel { reason in print(reason.description + 1) }  // error: cannot be applied to operands
    page.didCancel { reason in
        let value = reason.description + 1  // error: cannot be applied to operands of type 'String' and 'Int'
        print(value)
    }
    page.didCancel { a, b in print(sample.title) }  // error: expects 1 argument, but 2 were used
    page.didCancel { a, b in  // error: expects 1 argument, but 2 were used
        let value = 1
        print(value)
    }
}

func didProduce() {
    page.didProduce { operation in print(operation.nmae) }  // error: has no member 'nmae'
    page.didProduce { operation in
        let value = operation.nmae  // error: has no member 'nmae'
        print(value)
    }
    page.didProduce { operation in print(operation.reference + 1) }  // error: cannot convert value
    page.didProduce { operation in
        let value = operation.reference + 1  // error: 'OperationReference' to expected argument type 'Int'
        print(value)
    }
    page.didProduce { a, b in print(sample.title) }  // error: expects 1 argument, but 2 were used
    page.didProduce { a, b in  // error: expects 1 argument, but 2 were used
        let value = 1
        print(value)
    }
}

func willFinish() {
    page.willFinish { result in print(result.titel) }  // error: has no member 'titel'
    page.willFinish { result in
        let value = result.titel  // error: has no member 'titel'
        print(value)
    }
    page.willFinish { result in print(result + 1) }  // error: cannot convert value
    page.willFinish { result in
        let value = result + 1  // error: 'Result<Page, OperationError>' to expected argument type 'Int'
        print(value)
    }
    page.willFinish { a, b in print(sample.title) }  // error: expects 1 argument, but 2 were used
    page.willFinish { a, b in  // error: expects 1 argument, but 2 were used
        let value = 1
        print(value)
    }
}

func didFinish() {
    page.didFinish { result in print(result.titel) }  // error: has no member 'titel'
    page.didFinish { result in
        let value = result.titel  // error: has no member 'titel'
        print(value)
    }
    page.didFinish { result in print(result + 1) }  // error: cannot convert value
    page.didFinish { result in
        let value = result + 1  // error: 'Result<Page, OperationError>' to expected argument type 'Int'
        print(value)
    }
    page.didFinish { a, b in print(sample.title) }  // error: expects 1 argument, but 2 were used
    page.didFinish { a, b in  // error: expects 1 argument, but 2 were used
        let value = 1
        print(value)
    }
}

func observe() {
    page.observe { event in print(event.knid) }  // error: has no member 'knid'
    page.observe { event in
        let value = event.knid  // error: has no member 'knid'
        print(value)
    }
    page.observe { event in print(event.kind + 1) }  // error: 'OperationEvent.Kind' to expected argument type 'Int'
    page.observe { event in
        let value = event.kind + 1  // error: 'OperationEvent.Kind' to expected argument type 'Int'
        print(value)
    }
    page.observe { a, b in print(sample.title) }  // error: expects 1 argument, but 2 were used
    page.observe { a, b in  // error: expects 1 argument, but 2 were used
        let value = 1
        print(value)
    }
}

func queueObserve() {
    queue.observe { event in print(event.knid) }  // error: has no member 'knid'
    queue.observe { event in
        let value = event.knid  // error: has no member 'knid'
        print(value)
    }
    queue.observe { event in print(event.kind + 1) }  // error: 'OperationEvent.Kind' to expected argument type 'Int'
    queue.observe { event in
        let value = event.kind + 1  // error: 'OperationEvent.Kind' to expected argument type 'Int'
        print(value)
    }
    queue.observe { a, b in print(sample.title) }  // error: expects 1 argument, but 2 were used
    queue.observe { a, b in  // error: expects 1 argument, but 2 were used
        let value = 1
        print(value)
    }
}

func debugger() {
    _ = BatonDebugger { line in print(line.cuont) }  // error: has no member 'cuont'
    _ = BatonDebugger { line in
        let value = line.cuont  // error: has no member 'cuont'
        print(value)
    }
    _ = BatonDebugger { line in print(line + 1) }  // error: cannot be applied to operands of type 'String' and 'Int'
    _ = BatonDebugger { line in
        let value = line + 1  // error: cannot be applied to operands of type 'String' and 'Int'
        print(value)
    }
    _ = BatonDebugger { a, b in print(sample.title) }  // error: expects 1 argument, but 2 were used
    _ = BatonDebugger { a, b in  // error: expects 1 argument, but 2 were used
        let value = 1
        print(value)
    }
}

// MARK: - Queues

func onStall() {
    queue.onStall(after: .seconds(1)) { report in print(report.operatoins) }  // error: has no member 'operatoins'
    queue.onStall(after: .seconds(1)) { report in
        let value = report.operatoins  // error: has no member 'operatoins'
        print(value)
    }
    queue.onStall(after: .seconds(1)) { report in print(report + 1) }  // error: cannot convert value
    queue.onStall(after: .seconds(1)) { report in
        let value = report + 1  // error: 'StallReport' to expected argument type 'Int'
        print(value)
    }
    queue.onStall(after: .seconds(1)) { a, b in print(sample.title) }  // error: expects 1 argument, but 2 were used
    queue.onStall(after: .seconds(1)) { a, b in  // error: expects 1 argument, but 2 were used
        let value = 1
        print(value)
    }
}

func around() {
    queue.around { context, body in print(context.attemt) }  // error: has no member 'attemt'
    queue.around { context, body in
        let value = context.attemt  // error: has no member 'attemt'
        print(value)
    }
    queue.around { context, body in print(sample.title + context.attempt) }  // error: cannot be applied to operands
    queue.around { context, body in
        let value = sample.title + context.attempt  // error: cannot be applied to operands of type 'String' and 'Int'
        print(value)
    }
    queue.around { a in print(sample.title) }  // error: expects 2 arguments, but 1 was used
    queue.around { a in  // error: expects 2 arguments, but 1 was used
        let value = 1
        print(value)
    }
}

func onMisuse() {
    queue.onMisuse = { misuse in print(misuse.knid) }  // error: has no member 'knid'
    queue.onMisuse = { misuse in
        let value = misuse.knid  // error: has no member 'knid'
        print(value)
    }
    queue.onMisuse = { misuse in print(misuse + 1) }  // error: 'Misuse' to expected argument type 'Int'
    queue.onMisuse = { misuse in
        let value = misuse + 1  // error: 'Misuse' to expected argument type 'Int'
        print(value)
    }
    // The compiler names the line, but neither the mistake nor anything else.
    queue.onMisuse = { a, b in print(sample.title) }  // error: failed to produce diagnostic for expression
    // The compiler names the line, but neither the mistake nor anything else.
    queue.onMisuse = { a, b in  // error: failed to produce diagnostic for expression
        let value = 1
        print(value)
    }
}

func onMisuseOfANewQueue() {
    _ = AsyncOperationQueue(onMisuse: { misuse in print(misuse.knid) })  // error: has no member 'knid'
    _ = AsyncOperationQueue(onMisuse: { misuse in
        let value = misuse.knid  // error: has no member 'knid'
        print(value)
    })
    _ = AsyncOperationQueue(onMisuse: { misuse in print(misuse + 1) })  // error: cannot convert value
    _ = AsyncOperationQueue(onMisuse: { misuse in
        let value = misuse + 1  // error: 'Misuse' to expected argument type 'Int'
        print(value)
    })
    _ = AsyncOperationQueue(onMisuse: { a, b in print(sample.title) })  // error: expects 1 argument, but 2 were used
    _ = AsyncOperationQueue(onMisuse: { a, b in  // error: expects 1 argument, but 2 were used
        let value = 1
        print(value)
    })
}

func shutdown() async {
    await queue.shutdown(on: .interrupt, within: .seconds(1)) { signal in
        print(signal.nmae)  // error: has no member 'nmae'
    }
    await queue.shutdown(on: .interrupt, within: .seconds(1)) { signal in
        let value = signal.nmae  // error: has no member 'nmae'
        print(value)
    }
    await queue.shutdown(on: .interrupt, within: .seconds(1)) { signal in
        print(signal + 1)  // error: 'ShutdownSignal' to expected argument type 'Int32'
    }
    await queue.shutdown(on: .interrupt, within: .seconds(1)) { signal in
        let value = signal + 1  // error: 'ShutdownSignal' to expected argument type 'Int32'
        print(value)
    }
    await queue.shutdown(on: .interrupt, within: .seconds(1)) { a, b in  // error: expects 1 argument, but 2 were used
        print(sample.title)
    }
    await queue.shutdown(on: .interrupt, within: .seconds(1)) { a, b in  // error: expects 1 argument, but 2 were used
        let value = 1
        print(value)
    }
}

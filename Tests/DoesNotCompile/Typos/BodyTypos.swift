// Mistakes in bodies without inputs, in callbacks, and in closures that a queue adds.
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

// MARK: - Operations without inputs

func body() {
    _ = AsyncOperation { sample.titel }  // error: has no member 'titel'
    _ = AsyncOperation {
        let value = sample.titel  // error: has no member 'titel'
        return value
    }
    _ = AsyncOperation {
        if sample.size == 0 { return "none" }
        return sample.titel  // error: has no member 'titel'
    }
    _ = AsyncOperation {
        if sample.size == 0 { return "none" }
        return sample.size  // error: cannot convert value of type 'Int' to closure result type 'String'
    }
    _ = AsyncOperation { sample.size + sample.title }  // error: cannot be applied to operands
    _ = AsyncOperation {
        let value = sample.size + sample.title  // error: cannot be applied to operands of type 'Int' and 'String'
        return value
    }
    _ = AsyncOperation { a, b in sample.title }  // error: expects 1 argument, but 2 were used
    _ = AsyncOperation { a, b in  // error: expects 1 argument, but 2 were used
        let value = sample.title
        return value
    }
}

func bodyNamed() {
    _ = AsyncOperation("name") { sample.titel }  // error: has no member 'titel'
    _ = AsyncOperation("name") {
        let value = sample.titel  // error: has no member 'titel'
        return value
    }
    _ = AsyncOperation("name") {
        if sample.size == 0 { return "none" }
        return sample.titel  // error: has no member 'titel'
    }
    _ = AsyncOperation("name") {
        if sample.size == 0 { return "none" }
        return sample.size  // error: cannot convert value of type 'Int' to closure result type 'String'
    }
    _ = AsyncOperation("name") { sample.size + sample.title }  // error: cannot be applied to operands
    _ = AsyncOperation("name") {
        let value = sample.size + sample.title  // error: cannot be applied to operands of type 'Int' and 'String'
        return value
    }
    _ = AsyncOperation("name") { a, b in sample.title }  // error: expects 1 argument, but 2 were used
    _ = AsyncOperation("name") { a, b in  // error: expects 1 argument, but 2 were used
        let value = sample.title
        return value
    }
}

func nothing() {
    _ = AsyncOperation<Void> { print(sample.titel) }  // error: has no member 'titel'
    _ = AsyncOperation<Void> {
        let value = sample.titel  // error: has no member 'titel'
        print(value)
    }
    _ = AsyncOperation<Void> { print(sample.size + sample.title) }  // error: cannot be applied to operands
    _ = AsyncOperation<Void> {
        let value = sample.size + sample.title  // error: cannot be applied to operands of type 'Int' and 'String'
        print(value)
    }
    _ = AsyncOperation<Void> { a, b in print(sample.title) }  // error: expects 1 argument, but 2 were used
    _ = AsyncOperation<Void> { a, b in  // error: expects 1 argument, but 2 were used
        let value = 1
        print(value)
    }
}

func nothingNamed() {
    _ = AsyncOperation<Void>("name") { print(sample.titel) }  // error: has no member 'titel'
    _ = AsyncOperation<Void>("name") {
        let value = sample.titel  // error: has no member 'titel'
        print(value)
    }
    _ = AsyncOperation<Void>("name") { print(sample.size + sample.title) }  // error: cannot be applied to operands
    _ = AsyncOperation<Void>("name") {
        let value = sample.size + sample.title  // error: cannot be applied to operands of type 'Int' and 'String'
        print(value)
    }
    _ = AsyncOperation<Void>("name") { a, b in print(sample.title) }  // error: expects 1 argument, but 2 were used
    _ = AsyncOperation<Void>("name") { a, b in  // error: expects 1 argument, but 2 were used
        let value = 1
        print(value)
    }
}

func context() {
    _ = AsyncOperation { (context: OperationContext) in context.attemt }  // error: has no member 'attemt'
    _ = AsyncOperation { (context: OperationContext) in
        let value = context.attemt  // error: has no member 'attemt'
        return value
    }
    _ = AsyncOperation { (context: OperationContext) in
        sample.title + context.attempt  // error: cannot be applied to operands of type 'String' and 'Int'
    }
    _ = AsyncOperation { (context: OperationContext) in
        let value = sample.title + context.attempt  // error: cannot be applied to operands of type 'String' and 'Int'
        return value
    }
    _ = AsyncOperation { (context: OperationContext, other: Int) in  // error: expects 1 argument, but 2 were used
        sample.title
    }
    _ = AsyncOperation { (context: OperationContext, other: Int) in  // error: expects 1 argument, but 2 were used
        let value = sample.title
        return value
    }
}

func contextNamed() {
    _ = AsyncOperation("name") { (context: OperationContext) in context.attemt }  // error: has no member 'attemt'
    _ = AsyncOperation("name") { (context: OperationContext) in
        let value = context.attemt  // error: has no member 'attemt'
        return value
    }
    _ = AsyncOperation("name") { (context: OperationContext) in
        sample.title + context.attempt  // error: cannot be applied to operands of type 'String' and 'Int'
    }
    _ = AsyncOperation("name") { (context: OperationContext) in
        let value = sample.title + context.attempt  // error: cannot be applied to operands of type 'String' and 'Int'
        return value
    }
    _ = AsyncOperation("name") { (context: OperationContext, other: Int) in  // error: expects 1 argument
        sample.title
    }
    _ = AsyncOperation("name") { (context: OperationContext, other: Int) in  // error: expects 1 argument
        let value = sample.title
        return value
    }
}

// MARK: - Callbacks

func callback() {
    _ = AsyncOperation<Int>.callback { finish in finish(sample.sise) }  // error: has no member 'sise'
    _ = AsyncOperation<Int>.callback { finish in
        let value = 1
        print(value)
        finish(sample.sise)  // error: has no member 'sise'
    }
    _ = AsyncOperation<Int>.callback { finish in finish(sample.title) }  // error: cannot convert value
    _ = AsyncOperation<Int>.callback { finish in
        let value = 1
        print(value)
        finish(sample.title)  // error: 'String' to expected argument type 'Int'
    }
    _ = AsyncOperation<Int>.callback { a, b in print(sample.title) }  // error: expects 1 argument, but 2 were used
    _ = AsyncOperation<Int>.callback { a, b in  // error: expects 1 argument, but 2 were used
        let value = 1
        print(value)
    }
}

func callbackNamed() {
    _ = AsyncOperation<Int>.callback("name") { finish in finish(sample.sise) }  // error: has no member 'sise'
    _ = AsyncOperation<Int>.callback("name") { finish in
        let value = 1
        print(value)
        finish(sample.sise)  // error: has no member 'sise'
    }
    _ = AsyncOperation<Int>.callback("name") { finish in finish(sample.title) }  // error: cannot convert value
    _ = AsyncOperation<Int>.callback("name") { finish in
        let value = 1
        print(value)
        finish(sample.title)  // error: 'String' to expected argument type 'Int'
    }
    _ = AsyncOperation<Int>.callback("name") { a, b in print(sample.title) }  // error: expects 1 argument
    _ = AsyncOperation<Int>.callback("name") { a, b in  // error: expects 1 argument, but 2 were used
        let value = 1
        print(value)
    }
}

func onCancel(_ finish: Callback<Int>) {
    finish.onCancel { print(sample.titel) }  // error: has no member 'titel'
    finish.onCancel {
        let value = sample.titel  // error: has no member 'titel'
        print(value)
    }
    finish.onCancel { print(sample.size + sample.title) }  // error: cannot be applied to operands
    finish.onCancel {
        let value = sample.size + sample.title  // error: cannot be applied to operands of type 'Int' and 'String'
        print(value)
    }
    finish.onCancel { a, b in print(sample.title) }  // error: expects 0 arguments, but 2 were used
    finish.onCancel { a, b in  // error: expects 0 arguments, but 2 were used
        let value = 1
        print(value)
    }
}

// MARK: - Adding closures

func add() {
    queue.add { sample.titel }  // error: has no member 'titel'
    queue.add {
        let value = sample.titel  // error: has no member 'titel'
        return value
    }
    queue.add { sample.size + sample.title }  // error: cannot be applied to operands of type 'Int' and 'String'
    queue.add {
        let value = sample.size + sample.title  // error: cannot be applied to operands of type 'Int' and 'String'
        return value
    }
    // The compiler does not name the mistake.
    queue.add { a, b in sample.title }  // error: instance method 'add(_:includingDependencies:file:line:)' requires tha
    // The compiler does not name the mistake.
    queue.add { a, b in  // error: instance method 'add(_:includingDependencies:file:line:)' requires that '(_, _) -> St
        let value = sample.title
        return value
    }
}

func addNamed() {
    queue.add("name") { sample.titel }  // error: has no member 'titel'
    queue.add("name") {
        let value = sample.titel  // error: has no member 'titel'
        return value
    }
    queue.add("name") { sample.size + sample.title }  // error: cannot be applied to operands of type 'Int' and 'String'
    queue.add("name") {
        let value = sample.size + sample.title  // error: cannot be applied to operands of type 'Int' and 'String'
        return value
    }
    queue.add("name") { a, b in sample.title }  // error: expects 0 arguments, but 2 were used
    queue.add("name") { a, b in  // error: expects 0 arguments, but 2 were used
        let value = sample.title
        return value
    }
}

func addBarrier() {
    queue.addBarrier { sample.titel }  // error: has no member 'titel'
    queue.addBarrier {
        let value = sample.titel  // error: has no member 'titel'
        return value
    }
    queue.addBarrier { sample.size + sample.title }  // error: cannot be applied to operands of type 'Int' and 'String'
    queue.addBarrier {
        let value = sample.size + sample.title  // error: cannot be applied to operands of type 'Int' and 'String'
        return value
    }
    queue.addBarrier { a, b in sample.title }  // error: expects 0 arguments, but 2 were used
    queue.addBarrier { a, b in  // error: expects 0 arguments, but 2 were used
        let value = sample.title
        return value
    }
}

func addBarrierNamed() {
    queue.addBarrier("name") { sample.titel }  // error: has no member 'titel'
    queue.addBarrier("name") {
        let value = sample.titel  // error: has no member 'titel'
        return value
    }
    queue.addBarrier("name") { sample.size + sample.title }  // error: cannot be applied to operands
    queue.addBarrier("name") {
        let value = sample.size + sample.title  // error: cannot be applied to operands of type 'Int' and 'String'
        return value
    }
    queue.addBarrier("name") { a, b in sample.title }  // error: expects 0 arguments, but 2 were used
    queue.addBarrier("name") { a, b in  // error: expects 0 arguments, but 2 were used
        let value = sample.title
        return value
    }
}

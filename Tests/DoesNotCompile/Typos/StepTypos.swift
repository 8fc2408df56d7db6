// Mistakes in closures of `then`, of transforms, of lists and of sequences.
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

struct Measuring: InputProcedure {
    func execute(_ page: Page, in context: OperationContext) async throws -> Int { page.size }
}

// MARK: - Steps

func then() {
    _ = page.then { page in page.titel }  // error: has no member 'titel'
    _ = page.then { page in
        let value = page.titel  // error: has no member 'titel'
        return value
    }
    _ = page.then { page in page.size + page.title }  // error: cannot be applied to operands of type 'Int' and 'String'
    _ = page.then { page in
        let value = page.size + page.title  // error: cannot be applied to operands of type 'Int' and 'String'
        return value
    }
    _ = page.then { a, b, c in sample.title }  // error: expects 1 argument, but 3 were used
    _ = page.then { a, b, c in  // error: expects 1 argument, but 3 were used
        let value = sample.title
        return value
    }
}

func thenNamed() {
    _ = page.then("name") { page in page.titel }  // error: has no member 'titel'
    _ = page.then("name") { page in
        let value = page.titel  // error: has no member 'titel'
        return value
    }
    _ = page.then("name") { page in page.size + page.title }  // error: cannot be applied to operands
    _ = page.then("name") { page in
        let value = page.size + page.title  // error: cannot be applied to operands of type 'Int' and 'String'
        return value
    }
    _ = page.then("name") { a, b, c in sample.title }  // error: expects 1 argument, but 3 were used
    _ = page.then("name") { a, b, c in  // error: expects 1 argument, but 3 were used
        let value = sample.title
        return value
    }
}

func map() {
    _ = page.map { page in page.titel }  // error: has no member 'titel'
    _ = page.map { page in
        let value = page.titel  // error: has no member 'titel'
        return value
    }
    _ = page.map { page in page.size + page.title }  // error: cannot be applied to operands of type 'Int' and 'String'
    _ = page.map { page in
        let value = page.size + page.title  // error: cannot be applied to operands of type 'Int' and 'String'
        return value
    }
    _ = page.map { a, b, c in sample.title }  // error: expects 1 argument, but 3 were used
    _ = page.map { a, b, c in  // error: expects 1 argument, but 3 were used
        let value = sample.title
        return value
    }
}

func mapNamed() {
    _ = page.map("name") { page in page.titel }  // error: has no member 'titel'
    _ = page.map("name") { page in
        let value = page.titel  // error: has no member 'titel'
        return value
    }
    _ = page.map("name") { page in page.size + page.title }  // error: cannot be applied to operands
    _ = page.map("name") { page in
        let value = page.size + page.title  // error: cannot be applied to operands of type 'Int' and 'String'
        return value
    }
    _ = page.map("name") { a, b, c in sample.title }  // error: expects 1 argument, but 3 were used
    _ = page.map("name") { a, b, c in  // error: expects 1 argument, but 3 were used
        let value = sample.title
        return value
    }
}

func flatMap() {
    _ = page.flatMap { page in AsyncOperation { page.titel } }  // error: has no member 'titel'
    // The compiler first reports something else.
    _ = page.flatMap { page in  // error: generic parameter 'New' could not be inferred
        let value = AsyncOperation { page.titel }  // error: has no member 'titel'
        return value
    }
    _ = page.flatMap { page in AsyncOperation { page.size + page.title } }  // error: cannot be applied to operands
    _ = page.flatMap { page in
        let value = AsyncOperation { page.size + page.title }  // error: cannot be applied to operands
        return value
    }
    _ = page.flatMap { a, b in AsyncOperation { 1 } }  // error: expects 1 argument, but 2 were used
    _ = page.flatMap { a, b in  // error: expects 1 argument, but 2 were used
        let value = AsyncOperation { 1 }
        return value
    }
}

func recover() {
    _ = page.recover { error in Page(title: error.stagee, size: 0) }  // error: has no member 'stagee'
    _ = page.recover { error in
        let value = Page(title: error.stagee, size: 0)  // error: has no member 'stagee'
        return value
    }
    _ = page.recover { error in Page(title: error, size: 0) }  // error: cannot convert value
    _ = page.recover { error in
        let value = Page(title: error, size: 0)  // error: 'OperationError' to expected argument type 'String'
        return value
    }
    _ = page.recover { a, b in sample }  // error: expects 1 argument, but 2 were used
    _ = page.recover { a, b in  // error: expects 1 argument, but 2 were used
        let value = sample
        return value
    }
}

func recoverInOneExpression() {
    // Swift takes both closures for closures that return nothing. Without -warnings-as-errors, it only warns.
    _ = AsyncOperation { sample.size }.recover { _ in "none" }  // error: expression of type 'Int' is unused
    _ = AsyncOperation<Int> { sample.size }.recover { _ in "none" }  // error: 'String' to closure result type 'Int'
}

func mapError() {
    _ = page.mapError { error in error.underlyingErro }  // error: has no member 'underlyingErro'
    _ = page.mapError { error in
        let value = error.underlyingErro  // error: has no member 'underlyingErro'
        return value
    }
    _ = page.mapError { error in error.description + 1 }  // error: cannot be applied to operands
    _ = page.mapError { error in
        let value = error.description + 1  // error: cannot be applied to operands of type 'String' and 'Int'
        return value
    }
    _ = page.mapError { a, b in CancellationError() }  // error: expects 1 argument, but 2 were used
    _ = page.mapError { a, b in  // error: expects 1 argument, but 2 were used
        let value = CancellationError()
        return value
    }
}

// MARK: - Lists

func filter() {
    _ = AsyncOperation<[Page]>.filter(pages) { page in page.titel == "" }  // error: has no member 'titel'
    _ = AsyncOperation<[Page]>.filter(pages) { page in
        let value = page.titel == ""  // error: has no member 'titel'
        return value
    }
    _ = AsyncOperation<[Page]>.filter(pages) { page in page.size == page.title }  // error: cannot be applied to operand
    _ = AsyncOperation<[Page]>.filter(pages) { page in
        let value = page.size == page.title  // error: cannot be applied to operands of type 'Int' and 'String'
        return value
    }
    _ = AsyncOperation<[Page]>.filter(pages) { a, b in true }  // error: expects 1 argument, but 2 were used
    _ = AsyncOperation<[Page]>.filter(pages) { a, b in  // error: expects 1 argument, but 2 were used
        let value = true
        return value
    }
}

func filterNamed() {
    _ = AsyncOperation<[Page]>.filter("name", pages) { page in
        page.titel == ""  // error: has no member 'titel'
    }
    _ = AsyncOperation<[Page]>.filter("name", pages) { page in
        let value = page.titel == ""  // error: has no member 'titel'
        return value
    }
    _ = AsyncOperation<[Page]>.filter("name", pages) { page in
        page.size == page.title  // error: cannot be applied to operands of type 'Int' and 'String'
    }
    _ = AsyncOperation<[Page]>.filter("name", pages) { page in
        let value = page.size == page.title  // error: cannot be applied to operands of type 'Int' and 'String'
        return value
    }
    _ = AsyncOperation<[Page]>.filter("name", pages) { a, b in true }  // error: expects 1 argument, but 2 were used
    _ = AsyncOperation<[Page]>.filter("name", pages) { a, b in  // error: expects 1 argument, but 2 were used
        let value = true
        return value
    }
}

func reduce() {
    // The compiler does not name the mistake.
    _ = AsyncOperation<Int>.reduce(pages, 0) { sum, page in sum + page.sise }  // error: cannot convert value
    // The compiler does not name the mistake.
    _ = AsyncOperation<Int>.reduce(pages, 0) { sum, page in  // error: cannot convert value
        let value = sum + page.sise
        return value
    }
    _ = AsyncOperation<Int>.reduce(pages, 0) { sum, page in sum + page.title }  // error: cannot convert value
    _ = AsyncOperation<Int>.reduce(pages, 0) { sum, page in
        let value = sum + page.title  // error: cannot be applied to operands of type 'Int' and 'String'
        return value
    }
    _ = AsyncOperation<Int>.reduce(pages, 0) { a in 1 }  // error: expects 2 arguments, but 1 was used
    _ = AsyncOperation<Int>.reduce(pages, 0) { a in  // error: expects 2 arguments, but 1 was used
        let value = 1
        return value
    }
}

func reduceNamed() {
    // The compiler does not name the mistake.
    _ = AsyncOperation<Int>.reduce("name", pages, 0) { sum, page in  // error: cannot convert value
        sum + page.sise
    }
    // The compiler does not name the mistake.
    _ = AsyncOperation<Int>.reduce("name", pages, 0) { sum, page in  // error: cannot convert value
        let value = sum + page.sise
        return value
    }
    _ = AsyncOperation<Int>.reduce("name", pages, 0) { sum, page in
        sum + page.title  // error: 'String' to expected argument type 'Int'
    }
    _ = AsyncOperation<Int>.reduce("name", pages, 0) { sum, page in
        let value = sum + page.title  // error: cannot be applied to operands of type 'Int' and 'String'
        return value
    }
    _ = AsyncOperation<Int>.reduce("name", pages, 0) { a in 1 }  // error: expects 2 arguments, but 1 was used
    _ = AsyncOperation<Int>.reduce("name", pages, 0) { a in  // error: expects 2 arguments, but 1 was used
        let value = 1
        return value
    }
}

// MARK: - Sequences

func listDeliver(_ list: [Page]) {
    _ = list.deliver(on: queue) { page in page.titel }  // error: has no member 'titel'
    _ = list.deliver(on: queue) { page in
        let value = page.titel  // error: has no member 'titel'
        return value
    }
    _ = list.deliver(on: queue) { page in page.size + page.title }  // error: cannot be applied to operands
    _ = list.deliver(on: queue) { page in
        let value = page.size + page.title  // error: cannot be applied to operands of type 'Int' and 'String'
        return value
    }
    _ = list.deliver(on: queue) { a, b, c in sample.title }  // error: expects 2 arguments, but 3 were used
    _ = list.deliver(on: queue) { a, b, c in  // error: expects 2 arguments, but 3 were used
        let value = sample.title
        return value
    }
}

func listDeliverContext(_ list: [Page]) {
    _ = list.deliver(on: queue) { page, context in page.titel }  // error: has no member 'titel'
    _ = list.deliver(on: queue) { page, context in
        let value = page.titel  // error: has no member 'titel'
        return value
    }
    _ = list.deliver(on: queue) { page, context in
        page.title + context.attempt  // error: cannot be applied to operands of type 'String' and 'Int'
    }
    _ = list.deliver(on: queue) { page, context in
        let value = page.title + context.attempt  // error: cannot be applied to operands of type 'String' and 'Int'
        return value
    }
    _ = list.deliver(on: queue) { a, b, c in sample.title }  // error: expects 2 arguments, but 3 were used
    _ = list.deliver(on: queue) { a, b, c in  // error: expects 2 arguments, but 3 were used
        let value = sample.title
        return value
    }
}

func listConfigure(_ list: [Page]) {
    _ = list.deliver(to: Measuring(), on: queue) { operation, page in
        print(operation.name(page.titel))  // error: has no member 'titel'
    }
    _ = list.deliver(to: Measuring(), on: queue) { operation, page in
        let value = operation.name(page.titel)  // error: has no member 'titel'
        print(value)
    }
    _ = list.deliver(to: Measuring(), on: queue) { operation, page in
        print(operation.name(page.size))  // error: 'Int' to expected argument type 'String'
    }
    _ = list.deliver(to: Measuring(), on: queue) { operation, page in
        let value = operation.name(page.size)  // error: 'Int' to expected argument type 'String'
        print(value)
    }
    _ = list.deliver(to: Measuring(), on: queue) { a in print(sample.title) }  // error: expects 2 arguments
    _ = list.deliver(to: Measuring(), on: queue) { a in  // error: expects 2 arguments, but 1 was used
        let value = 1
        print(value)
    }
}

func listConfigureBody(_ list: [Page]) {
    _ = list.deliver(
        on: queue,
        configure: { operation, page in
            print(operation.name(page.titel))  // error: has no member 'titel'
        }
    ) { $0.size }
    _ = list.deliver(
        on: queue,
        configure: { operation, page in
            let value = operation.name(page.titel)  // error: has no member 'titel'
            print(value)
        }
    ) { $0.size }
    _ = list.deliver(
        on: queue,
        configure: { operation, page in
            print(operation.name(page.size))  // error: 'Int' to expected argument type 'String'
        }
    ) { $0.size }
    _ = list.deliver(
        on: queue,
        configure: { operation, page in
            let value = operation.name(page.size)  // error: 'Int' to expected argument type 'String'
            print(value)
        }
    ) { $0.size }
    _ = list.deliver(
        on: queue,
        configure: { a in  // error: expects 2 arguments, but 1 was used
            print(sample.title)
        }
    ) { $0.size }
    _ = list.deliver(
        on: queue,
        configure: { a in  // error: expects 2 arguments, but 1 was used
            let value = 1
            print(value)
        }
    ) { $0.size }
}

func listConfigureContext(_ list: [Page]) {
    _ = list.deliver(
        on: queue,
        configure: { operation, page in
            print(operation.name(page.titel))  // error: has no member 'titel'
        }
    ) { page, context in page.size + context.attempt }
    _ = list.deliver(
        on: queue,
        configure: { operation, page in
            let value = operation.name(page.titel)  // error: has no member 'titel'
            print(value)
        }
    ) { page, context in page.size + context.attempt }
    _ = list.deliver(
        on: queue,
        configure: { operation, page in
            print(operation.name(page.size))  // error: 'Int' to expected argument type 'String'
        }
    ) { page, context in page.size + context.attempt }
    _ = list.deliver(
        on: queue,
        configure: { operation, page in
            let value = operation.name(page.size)  // error: 'Int' to expected argument type 'String'
            print(value)
        }
    ) { page, context in page.size + context.attempt }
    _ = list.deliver(
        on: queue,
        configure: { a in  // error: expects 2 arguments, but 1 was used
            print(sample.title)
        }
    ) { page, context in page.size + context.attempt }
    _ = list.deliver(
        on: queue,
        configure: { a in  // error: expects 2 arguments, but 1 was used
            let value = 1
            print(value)
        }
    ) { page, context in page.size + context.attempt }
}

func streamDeliver(_ stream: AsyncStream<Page>) {
    _ = stream.deliver(on: queue) { page in page.titel }  // error: has no member 'titel'
    _ = stream.deliver(on: queue) { page in
        let value = page.titel  // error: has no member 'titel'
        return value
    }
    _ = stream.deliver(on: queue) { page in page.size + page.title }  // error: cannot be applied to operands
    _ = stream.deliver(on: queue) { page in
        let value = page.size + page.title  // error: cannot be applied to operands of type 'Int' and 'String'
        return value
    }
    _ = stream.deliver(on: queue) { a, b, c in sample.title }  // error: expects 2 arguments, but 3 were used
    _ = stream.deliver(on: queue) { a, b, c in  // error: expects 2 arguments, but 3 were used
        let value = sample.title
        return value
    }
}

func streamDeliverContext(_ stream: AsyncStream<Page>) {
    _ = stream.deliver(on: queue) { page, context in page.titel }  // error: has no member 'titel'
    _ = stream.deliver(on: queue) { page, context in
        let value = page.titel  // error: has no member 'titel'
        return value
    }
    _ = stream.deliver(on: queue) { page, context in
        page.title + context.attempt  // error: cannot be applied to operands of type 'String' and 'Int'
    }
    _ = stream.deliver(on: queue) { page, context in
        let value = page.title + context.attempt  // error: cannot be applied to operands of type 'String' and 'Int'
        return value
    }
    _ = stream.deliver(on: queue) { a, b, c in sample.title }  // error: expects 2 arguments, but 3 were used
    _ = stream.deliver(on: queue) { a, b, c in  // error: expects 2 arguments, but 3 were used
        let value = sample.title
        return value
    }
}

func streamConfigure(_ stream: AsyncStream<Page>) {
    _ = stream.deliver(to: Measuring(), on: queue) { operation, page in
        print(operation.name(page.titel))  // error: has no member 'titel'
    }
    _ = stream.deliver(to: Measuring(), on: queue) { operation, page in
        let value = operation.name(page.titel)  // error: has no member 'titel'
        print(value)
    }
    _ = stream.deliver(to: Measuring(), on: queue) { operation, page in
        print(operation.name(page.size))  // error: 'Int' to expected argument type 'String'
    }
    _ = stream.deliver(to: Measuring(), on: queue) { operation, page in
        let value = operation.name(page.size)  // error: 'Int' to expected argument type 'String'
        print(value)
    }
    _ = stream.deliver(to: Measuring(), on: queue) { a in print(sample.title) }  // error: expects 2 arguments
    _ = stream.deliver(to: Measuring(), on: queue) { a in  // error: expects 2 arguments, but 1 was used
        let value = 1
        print(value)
    }
}

func streamConfigureBody(_ stream: AsyncStream<Page>) {
    _ = stream.deliver(
        on: queue,
        configure: { operation, page in
            print(operation.name(page.titel))  // error: has no member 'titel'
        }
    ) { $0.size }
    _ = stream.deliver(
        on: queue,
        configure: { operation, page in
            let value = operation.name(page.titel)  // error: has no member 'titel'
            print(value)
        }
    ) { $0.size }
    _ = stream.deliver(
        on: queue,
        configure: { operation, page in
            print(operation.name(page.size))  // error: 'Int' to expected argument type 'String'
        }
    ) { $0.size }
    _ = stream.deliver(
        on: queue,
        configure: { operation, page in
            let value = operation.name(page.size)  // error: 'Int' to expected argument type 'String'
            print(value)
        }
    ) { $0.size }
    _ = stream.deliver(
        on: queue,
        configure: { a in  // error: expects 2 arguments, but 1 was used
            print(sample.title)
        }
    ) { $0.size }
    _ = stream.deliver(
        on: queue,
        configure: { a in  // error: expects 2 arguments, but 1 was used
            let value = 1
            print(value)
        }
    ) { $0.size }
}

func streamConfigureContext(_ stream: AsyncStream<Page>) {
    _ = stream.deliver(
        on: queue,
        configure: { operation, page in
            print(operation.name(page.titel))  // error: has no member 'titel'
        }
    ) { page, context in page.size + context.attempt }
    _ = stream.deliver(
        on: queue,
        configure: { operation, page in
            let value = operation.name(page.titel)  // error: has no member 'titel'
            print(value)
        }
    ) { page, context in page.size + context.attempt }
    _ = stream.deliver(
        on: queue,
        configure: { operation, page in
            print(operation.name(page.size))  // error: 'Int' to expected argument type 'String'
        }
    ) { page, context in page.size + context.attempt }
    _ = stream.deliver(
        on: queue,
        configure: { operation, page in
            let value = operation.name(page.size)  // error: 'Int' to expected argument type 'String'
            print(value)
        }
    ) { page, context in page.size + context.attempt }
    _ = stream.deliver(
        on: queue,
        configure: { a in  // error: expects 2 arguments, but 1 was used
            print(sample.title)
        }
    ) { page, context in page.size + context.attempt }
    _ = stream.deliver(
        on: queue,
        configure: { a in  // error: expects 2 arguments, but 1 was used
            let value = 1
            print(value)
        }
    ) { page, context in page.size + context.attempt }
}

// Mistakes in closures, each in a function of its own, so that the compiler reports each of them with its line and
// continues. "error: …" at the end of a line is the text that the message for that line has to contain; other lines
// must have no errors. Where the compiler cannot report a mistake, a comment says what to write instead.
import Baton

struct Page: Sendable {
    let title: String
    let size: Int
}

struct Measuring: InputProcedure {
    func execute(_ page: Page, in context: OperationContext) async throws -> Int { page.size }
}

// MARK: - Without inputs

func member(_ page: Page) { _ = AsyncOperation { page.titel } }  // error: 'Page' has no member 'titel'
func memberLater(_ page: Page) {
    _ = AsyncOperation("name") {
        let title = page.titel  // error: 'Page' has no member 'titel'
        return title
    }
}
func type(_ page: Page) { _ = AsyncOperation { page.title + page.size } }  // error: cannot be applied to operands
func output(_ page: Page) { _ = AsyncOperation<Int> { page.title } }  // error: 'String' to closure result type 'Int'

// If the parameter has no type, the compiler expects a closure without a context.
func context() { _ = AsyncOperation { (context: OperationContext) in context.attemt } }  // error: no member 'attemt'
func contextLater() {
    _ = AsyncOperation("name") { (context: OperationContext) in
        let attempt = context.attemt  // error: 'OperationContext' has no member 'attemt'
        return attempt
    }
}
func contextWithoutType() { _ = AsyncOperation { context in context.attemt } }  // error: expects 0 arguments
func contextWithoutTypeButNamed() { _ = AsyncOperation("page") { context in context.attemt } }  // error: expects 0
func contextBehindAnInput(_ page: AsyncOperation<Page>) {
    _ = AsyncOperation("size", page) { (page: Page, context: OperationContext) in
        page.size + context.attemt  // error: 'OperationContext' has no member 'attemt'
    }
}

func callback() { _ = AsyncOperation<Int>.callback { finish in finsh(3) } }  // error: cannot find 'finsh'
func callbackType() { _ = AsyncOperation<Int>.callback { finish in finish("3") } }  // error: 'String' to expected
func callbackLater() {
    _ = AsyncOperation<Int>.callback("name") { finish in
        let number = "3"
        finish(number)  // error: 'String' to expected argument type 'Int'
    }
}

// MARK: - With inputs

func one(_ page: AsyncOperation<Page>) { _ = AsyncOperation(page) { $0.titel } }  // error: no member 'titel'
func oneLater(_ page: AsyncOperation<Page>) {
    _ = AsyncOperation("name", page) { page in
        let title = page.titel  // error: 'Page' has no member 'titel'
        return title
    }
}
func oneCount(_ page: AsyncOperation<Page>) { _ = AsyncOperation(page) { a, b, c in a.title } }  // error: 3 were used
func two(_ page: AsyncOperation<Page>, _ other: AsyncOperation<Page>) {
    _ = AsyncOperation(page, other) { page, other in page.titel }  // error: 'Page' has no member 'titel'
}
func twoNamed(_ page: AsyncOperation<Page>, _ other: AsyncOperation<Page>) {
    _ = AsyncOperation("both", page, other) { page, other in other.titel }  // error: 'Page' has no member 'titel'
}
func twoLater(_ page: AsyncOperation<Page>, _ other: AsyncOperation<Page>) {
    _ = AsyncOperation(page, other) { page, other in
        let title = page.titel  // error: 'Page' has no member 'titel'
        return title + other.title
    }
}
func twoType(_ page: AsyncOperation<Page>, _ other: AsyncOperation<Page>) {
    _ = AsyncOperation(page, other) { page, other in page.size + other.title }  // error: cannot be applied to operands
}
func twoCount(_ page: AsyncOperation<Page>, _ other: AsyncOperation<Page>) {
    _ = AsyncOperation(page, other) { page in page.title }  // error: expects 2 arguments, but 1 was used
}
func twoContext(_ page: AsyncOperation<Page>, _ other: AsyncOperation<Page>) {
    _ = AsyncOperation(page, other) { page, other, context in page.titel }  // error: 'Page' has no member 'titel'
}
func three(_ page: AsyncOperation<Page>) {
    _ = AsyncOperation(page, page, page) { a, b, c in a.title + b.titel }  // error: 'Page' has no member 'titel'
}
func eight(_ p: AsyncOperation<Page>) {
    _ = AsyncOperation(p, p, p, p, p, p, p, p) { a, b, c, d, e, f, g, h in h.titel }  // error: no member 'titel'
}
func eightLater(_ p: AsyncOperation<Page>) {
    _ = AsyncOperation("eight", p, p, p, p, p, p, p, p) { a, b, c, d, e, f, g, h, context in
        let title = h.titel  // error: 'Page' has no member 'titel'
        return a.title + title
    }
}
func fallback(_ page: AsyncOperation<Page>, _ other: Page) {
    _ = AsyncOperation(page, default: other) { page in page.titel }  // error: 'Page' has no member 'titel'
}
func outcome(_ page: AsyncOperation<Page>) {
    _ = AsyncOperation(resultOf: page) { result in result.titel }  // error: OperationError>' has no member 'titel'
}
func outcomes(_ page: AsyncOperation<Page>) {
    _ = AsyncOperation(resultOf: page, page) { a, b in try b.get().titel }  // error: 'Page' has no member 'titel'
}
func outcomesLater(_ page: AsyncOperation<Page>) {
    _ = AsyncOperation("both", resultOf: page, page) { a, b in
        let title = try a.get().titel  // error: 'Page' has no member 'titel'
        return title
    }
}

// MARK: - Chains

func then(_ page: AsyncOperation<Page>) { _ = page.then { $0.titel } }  // error: 'Page' has no member 'titel'
func thenNamed(_ page: AsyncOperation<Page>) { _ = page.then("write") { $0.titel } }  // error: no member 'titel'
func thenLater(_ page: AsyncOperation<Page>) {
    _ = page.then { page in
        let title = page.titel  // error: 'Page' has no member 'titel'
        return title
    }
}
func thenContext(_ page: AsyncOperation<Page>) {
    // Without types, the compiler expects a closure without a context.
    _ = page.then { (_: Page, context: OperationContext) in context.attemt }  // error: no member 'attemt'
}
func thenCount(_ page: AsyncOperation<Page>) { _ = page.then { a, b, c in a.title } }  // error: 3 were used
func thenProcedure(_ page: AsyncOperation<Int>) { _ = page.then(Measuring()) }  // error: 'Int' and 'Page'
func lastThen(_ page: AsyncOperation<Page>) {
    _ = page.then { $0.title }.then { $0.count }.then { $0.titel }  // error: 'Int' has no member 'titel'
}
func middleThen(_ page: AsyncOperation<Page>) {
    _ = page.then { $0.title }.then { $0.cuont }.then { $0 + 1 }  // error: 'String' has no member 'cuont'
}
func map(_ page: AsyncOperation<Page>) { _ = page.map { $0.titel } }  // error: 'Page' has no member 'titel'
func flatMap(_ page: AsyncOperation<Page>) {
    _ = page.flatMap { page in AsyncOperation { page.titel } }  // error: 'Page' has no member 'titel'
}
func recover(_ page: AsyncOperation<Page>) {
    _ = page.recover { error in Page(title: error.stagee, size: 0) }  // error: 'OperationError' has no member 'stagee'
}
func mapError(_ page: AsyncOperation<Page>) {
    _ = page.mapError { error in error.underlyingErro }  // error: 'OperationError' has no member 'underlyingErro'
}
func collect(_ pages: [AsyncOperation<Page>]) {
    _ = AsyncOperation.collect(pages).then { pages in pages.frist }  // error: '[Page]' has no member 'frist'
}
// Without the explicit type, the compiler reports an error about the list instead.
func filter(_ pages: [AsyncOperation<Page>]) {
    _ = AsyncOperation<[Page]>.filter(pages) { $0.titel == "" }  // error: 'Page' has no member 'titel'
}

// MARK: - Queues and handlers

func add(_ queue: AsyncOperationQueue, _ page: Page) { queue.add { page.titel } }  // error: no member 'titel'
func didFinish(_ page: AsyncOperation<Page>) {
    page.didFinish { result in print(result.titel) }  // error: OperationError>' has no member 'titel'
}
func didFinishLater(_ page: AsyncOperation<Page>) {
    page.didFinish { result in
        if case .success(let page) = result { print(page.titel) }  // error: 'Page' has no member 'titel'
        print("done")
    }
}
func retry(_ page: AsyncOperation<Page>) {
    page.retry(.constant(.zero), attempts: 3) { error in error.stagee == 1 }  // error: no member 'stagee'
}
func repeats(_ page: AsyncOperation<Page>) {
    page.repeat(every: .seconds(1)) { page in page.sise > 3 }  // error: 'Page' has no member 'sise'
}
func run(_ queue: AsyncOperationQueue, _ page: AsyncOperation<Page>) async throws {
    _ = try await queue.run(page).titel  // error: 'Page' has no member 'titel'
}
func child() {
    _ = AsyncOperation { (context: OperationContext) in
        let number = try await context.run(AsyncOperation { 3 })
        return number.titel  // error: 'Int' has no member 'titel'
    }
}

// Mistakes in chains, and behind a call of the library. "error: …" is in the message for its line. Where the compiler
// cannot report a mistake, a comment says what to write instead.
import Baton

struct Page: Sendable {
    let title: String
    let size: Int
}

struct Measuring: InputProcedure {
    func execute(_ page: Page, in context: OperationContext) async throws -> Int { page.size }
}

// MARK: - Outputs and contexts

func output(_ page: Page) { _ = AsyncOperation<Int> { page.title } }  // error: 'String' to closure result type 'Int'

// If the parameter has no type, the compiler expects a closure without a context.
func contextWithoutType() { _ = AsyncOperation { context in context.attemt } }  // error: expects 0 arguments
func contextWithoutTypeButNamed() { _ = AsyncOperation("page") { context in context.attemt } }  // error: expects 0

// A closure of `then` takes no context. `AsyncOperation(page) { page, context in … }` does.
func thenContext(_ page: AsyncOperation<Page>) {
    _ = page.then { (_: Page, context: OperationContext) in context.attemt }  // error: no member 'attemt'
}

// MARK: - Chains

func thenProcedure(_ page: AsyncOperation<Int>) { _ = page.then(Measuring()) }  // error: 'Int' and 'Page'
func lastThen(_ page: AsyncOperation<Page>) {
    _ = page.then { $0.title }.then { $0.count }.then { $0.titel }  // error: 'Int' has no member 'titel'
}
func middleThen(_ page: AsyncOperation<Page>) {
    _ = page.then { $0.title }.then { $0.cuont }.then { $0 + 1 }  // error: 'String' has no member 'cuont'
}
func collect(_ pages: [AsyncOperation<Page>]) {
    _ = AsyncOperation.collect(pages).then { pages in pages.frist }  // error: '[Page]' has no member 'frist'
}

// MARK: - Outcomes

func didFinish(_ page: AsyncOperation<Page>) {
    page.didFinish { result in
        if case .success(let page) = result { print(page.titel) }  // error: 'Page' has no member 'titel'
        print("done")
    }
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

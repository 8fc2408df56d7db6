import Baton

/// Something that calls back, as many libraries do.
final class Store: Sendable {
    func load(_ name: String, completion: @escaping @Sendable (Result<String, any Error>) -> Void) {
        Task.detached { completion(.success("the contents of \(name)")) }
    }
}

let store = Store()
let text = AsyncOperation<String>.callback { finish in
    finish.onCancel { print("never printed") }  // here one would tell the store to stop
    store.load("letter") { result in finish(result) }
}
let forgetful = AsyncOperation<String>.callback { _ in }  // never calls, and says so
let either = AsyncOperation(resultOf: forgetful, text) { first, second in (first, second) }
let (first, second) = try await AsyncOperationQueue.shared.run(either)
print(second)  // success("the contents of letter")
print(first)  // failure(dropped its callback without calling it. Call `finish` exactly once on every path)

import Baton

struct Offline: Error {}

struct Profile: Sendable { let name: String }

struct SignIn: Procedure {
    func execute(in context: OperationContext) async throws -> String { "a token" }
}

struct SignedIn: OperationCondition {
    var exclusions: [Exclusion] { [.mutuallyExclusive(SignedIn.self)] }
    func dependency(for operation: AnyOperation) -> AnyOperation? { AsyncOperation(SignIn()) }

    func evaluate(for operation: AnyOperation) async throws -> ConditionResult { .satisfied }
}

struct FetchProfile: Procedure {
    let id: Int
    func execute(in context: OperationContext) async throws -> Profile {
        if context.attempt < 2 { throw Offline() }
        return Profile(name: "Ada \(id)")
    }
}

struct Greeting: InputProcedure {
    func execute(_ profile: Result<Profile, OperationError>, in context: OperationContext) async throws -> String {
        switch profile {
        case .success(let profile): "Hello, \(profile.name)"
        case .failure: "Hello, stranger"
        }
    }
}

let fetch = AsyncOperation(FetchProfile(id: 7))
    .addCondition(SignedIn())
    .unique(by: "profile 7")
    .retryOnFailure { earlier, error in earlier < 3 && error.underlyingError is Offline }  // 0 at the first failure
    .timeout(.seconds(5))
let greeting = AsyncOperation(Greeting(), resultOf: fetch)
    .didFinish { @MainActor result in print(result) }  // success("Hello, Ada 7")
    .add(to: .shared)
_ = try await greeting.value
await AsyncOperationQueue.shared.waitUntilIdle()

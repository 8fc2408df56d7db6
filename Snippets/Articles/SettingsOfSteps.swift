import Baton

struct Compile: Procedure {
    func execute(in context: OperationContext) async throws -> Int {
        print("compiled")
        return 3
    }
}

let source = AsyncOperation("source") { print("made the source") }

// Wrong: the settings belong to the step that `map` makes. The compiler waits for nothing and has no time limit.
let wrong = AsyncOperation("compile", Compile())
    .map { warnings in "\(warnings) warnings" }
    .addDependency(source)
    .timeout(.seconds(10))

// Right: the settings of a step come before the next step.
let right = AsyncOperation("compile", Compile())
    .addDependency(source)
    .timeout(.seconds(10))
    .map { warnings in "\(warnings) warnings" }

print(try await AsyncOperationQueue.shared.run(right))  // made the source, compiled, 3 warnings

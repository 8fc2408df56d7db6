import Baton

protocol HasLength: Sendable { var length: Int { get } }
struct Plank: HasLength { let length: Int }

struct Measure: Procedure {
    func execute(in context: OperationContext) async throws -> Int {
        context.dependencies.outputs(of: (any HasLength).self).reduce(0) { sum, part in sum + part.length }
    }
}

// In a test: no queue, no operation. The context says what the body would have found.
print(try await Measure().execute(in: OperationContext(outputs: [Plank(length: 2), "a nail", Plank(length: 3)])))  // 5

// In a program: the same procedure, after operations that it does not know.
let plank = AsyncOperation("plank") { Plank(length: 4) }
print(try await AsyncOperationQueue.shared.run(AsyncOperation(Measure()).addDependency(plank)))  // 4

import Baton

struct Square: InputProcedure {
    func execute(_ input: Int, in context: OperationContext) async throws -> Int { input * input }
}

let queue = AsyncOperationQueue()
let seven = AsyncOperation("seven") { 7 }
let square = AsyncOperation(Square(), input: seven)  // or seven.then(Square()), or input: 7
print(try await queue.run(square))  // 49

import Baton

struct Square: InputProcedure {
    func execute(_ input: Int, in context: OperationContext) async throws -> Int { input * input }
}

let queue = AsyncOperationQueue()
let seven = AsyncOperation("seven") { 7 }
let square = AsyncOperation(Square(), input: seven)  // or seven.then(Square())
let nine = AsyncOperation(Square(), input: 3)  // a literal
print(try await queue.run(square), try await queue.run(nine))  // 49 9

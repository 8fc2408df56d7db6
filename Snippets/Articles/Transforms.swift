import Baton

struct NoSuchUser: Error {}

let queue = AsyncOperationQueue()
let numbers = (1...5).map { number in AsyncOperation { number } }
let squares = numbers.map { operation in operation.map { number in number * number } }
let odd = AsyncOperation.filter(squares) { square in !square.isMultiple(of: 2) }
let sum = AsyncOperation.reduce(squares, 0) { sum, square in sum + square }
let user = AsyncOperation { 7 }.flatMap { id in AsyncOperation("user \(id)") { Optional("Ada \(id)") } }.unwrapped()
let guest = AsyncOperation<String> { throw NoSuchUser() }.recover { error in "a guest, because \(error)" }
let line = AsyncOperation(odd, sum, user, guest) { odd, sum, user, guest in "\(odd) \(sum) \(user), \(guest)" }
print(try await queue.run(line))  // [1, 9, 25] 55 Ada 7, a guest, because NoSuchUser()

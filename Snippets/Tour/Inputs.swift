import Baton

struct OutOfPaint: Error {}
let queue = AsyncOperationQueue()
let name = AsyncOperation { "wheel barrow" }
let count = AsyncOperation<Int>.callback { finish in finish(3) }  // wraps a callback-based API
let order = AsyncOperation(name, count) { name, count in "\(count) × \(name)" }
let colour = AsyncOperation<String>("colour") { throw OutOfPaint() }
let paint = AsyncOperation(colour, default: "red") { colour in "in \(colour)" }
let lines = AsyncOperation(order, paint) { order, paint in "\(order), \(paint)" }
let note = AsyncOperation(resultOf: lines, colour) { lines, colour in "\(try lines.get()) (\(colour))" }
print(try await queue.run(note))  // 3 × wheel barrow, in red (failure(OutOfPaint()))

import Baton

struct Odd: Error {}
let queue = AsyncOperationQueue()
let numbers = AsyncStream { continuation in
    for number in 1...4 { continuation.yield(number) }
    continuation.finish()
}
let halves = numbers.deliver(on: queue, width: 2) { number in  // or deliver(to: Halving(), on: queue)
    if number.isMultiple(of: 2) { number / 2 } else { throw Odd() }
}
for await half in halves.results { print(half) }  // failure(Odd()), success(1), failure(Odd()), success(2)

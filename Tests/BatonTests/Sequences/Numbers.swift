import BatonTesting

@testable import Baton

/// The numbers from 0 up to, but not including, `count`. The sequence then ends, or throws `failure`.
struct Numbers<Failure: Error>: AsyncSequence, Sendable {
    typealias Element = Int

    let count: Int
    let failure: Failure?
    /// The number of times that a number was taken.
    let taken = Tally()
    /// Tokens that the iterators retain.
    let iterators = Tokens()
    /// The gate at which each number waits.
    var gate: Gate?

    func makeAsyncIterator() -> Iterator { Iterator(numbers: self, token: iterators.make()) }

    struct Iterator: AsyncIteratorProtocol {
        let numbers: Numbers
        let token: Token
        var next = 0

        mutating func next(isolation actor: isolated (any Actor)?) async throws(Failure) -> Int? {
            do { try await numbers.gate?.waitUnlessCancelled() } catch { return nil }
            if next == numbers.count {
                if let failure = numbers.failure { throw failure }
                return nil
            }
            numbers.taken.add()
            next += 1
            return next - 1
        }
    }
}

extension Numbers where Failure == Never {
    init(_ count: Int, gate: Gate? = nil) {
        self.count = count
        failure = nil
        self.gate = gate
    }
}

extension Numbers where Failure == Oops {
    init(_ count: Int, then failure: Oops) {
        self.count = count
        self.failure = failure
    }
}

/// One gate for each number.
struct Gates: Sendable {
    let all: [Gate]

    init(_ count: Int) { all = (0..<count).map { _ in Gate() } }

    subscript(number: Int) -> Gate { all[number] }
}

extension TestQueue {
    /// Starts a task that logs every output, and then how the sequence ended.
    @discardableResult
    func consume<Upstream, Output>(_ outputs: OperationOutputs<Upstream, Output>) -> Task<Void, Never> {
        steps.task { [log] in
            do throws(OperationError) {
                for try await output in outputs { log("\(output)") }
                log("end")
            } catch { log(error.inShort) }
        }
    }

    /// Starts a task that logs every result, and then how the sequence ended.
    @discardableResult
    func consume<Upstream, Output>(_ results: OperationResults<Upstream, Output>) -> Task<Void, Never> {
        steps.task { [log] in
            do {
                for try await result in results {
                    switch result {
                    case .success(let output): log("\(output)")
                    case .failure(let error): log(error.inShort)
                    }
                }
                log("end")
            } catch { log("upstream: \(error)") }
        }
    }
}

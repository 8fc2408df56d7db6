import BatonTesting

@testable import Baton

/// Numbers from 0 up to, and without, `count`; then it ends, or throws `failure`.
struct Numbers<Failure: Error>: AsyncSequence, Sendable {
    typealias Element = Int

    let count: Int
    let failure: Failure?
    /// How often a number was taken.
    let taken = Tally()
    /// Held by every iterator.
    let iterators = Tokens()
    /// Where each number is held back.
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

/// A gate for each number.
struct Gates: Sendable {
    let all: [Gate]

    init(_ count: Int) { all = (0..<count).map { _ in Gate() } }

    subscript(number: Int) -> Gate { all[number] }
}

extension TestQueue {
    /// A task that notes every output, and then how it ended.
    @discardableResult
    func consume<Upstream, Output>(_ outputs: OperationOutputs<Upstream, Output>) -> Task<Void, Never> {
        steps.task { [log] in
            do throws(OperationError) {
                for try await output in outputs { log("\(output)") }
                log("end")
            } catch { log(error.inShort) }
        }
    }

    /// As above.
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

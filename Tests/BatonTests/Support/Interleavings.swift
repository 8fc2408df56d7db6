/// The steps of one thread in a scenario that ``exploreInterleavings(of:)`` plays. A step may append further ones, so
/// that it can decide what its thread does next.
final class Steps {
    private var steps: [() -> Void]
    private var next = 0

    init(_ steps: () -> Void...) { self.steps = steps }

    func append(_ step: @escaping () -> Void) { steps.append(step) }

    var areOver: Bool { next == steps.count }

    /// Runs the next step and drops it, because a step that appends others retains its own thread.
    func step() {
        let step = steps[next]
        steps[next] = {}
        next += 1
        step()
    }
}

/// Plays a scenario once for each order in which the steps of its threads can follow one another, and checks the result
/// of each.
///
/// A step has to be atomic: one call of an atomic type, or everything that is done under one lock. All threads see all
/// steps in one order here, so these tests do not show what a weaker memory ordering would allow.
///
/// - Parameter scenario: Makes the state, the threads, and a check that is called when all threads are over, with the
///   numbers of the threads in the order of their steps.
/// - Returns: The number of orders.
@discardableResult
func exploreInterleavings(of scenario: () -> (threads: [Steps], check: (_ order: [Int]) -> Void)) -> Int {
    var count = 0
    /// Which of the threads that were not over made each step, except for the last steps, which the first one makes.
    var choices: [Int] = []
    repeat {
        let (threads, check) = scenario()
        var order: [Int] = []
        var played: [(choice: Int, outOf: Int)] = []
        while true {
            let left = threads.indices.filter { !threads[$0].areOver }
            if left.isEmpty { break }
            let choice = played.count < choices.count ? choices[played.count] : 0
            played.append((choice, left.count))
            order.append(left[choice])
            threads[left[choice]].step()
        }
        check(order)
        count += 1
        // The next order differs from this one as late as possible.
        while let last = played.last, last.choice + 1 == last.outOf { played.removeLast() }
        choices = played.map(\.choice)
        if !choices.isEmpty { choices[choices.count - 1] += 1 }
    } while !choices.isEmpty
    return count
}

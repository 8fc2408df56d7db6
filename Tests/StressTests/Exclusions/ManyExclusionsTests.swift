import Baton
import BatonTesting
import Synchronization
import Testing

/// Runs very many operations that request random names. No operation may hang, and no exclusion may be violated (G12,
/// G13, G25).
@Suite struct ManyExclusionsTests {
    /// A release build runs a million operations: `swift test -c release -Xswiftc -enable-testing --filter
    /// ManyExclusionsTests`. A debug build does so if the environment contains `BATON_STRESS_MILLION=1`.
    private static var count: Int {
        #if DEBUG
            Seeds.wantsMillion ? 1_000_000 : max(5_000, Seeds.rounds(50_000))
        #else
            1_000_000
        #endif
    }

    @Test(.timeLimit(.minutes(30))) func aMillionWithRandomNames() async throws {
        let count = Self.count
        var random = SeededRandom(seed: Seeds.chosen ?? 1)
        let names = ManyNames(200, &random)
        let queues = [1, 2, 4, 16, 64].map { AsyncOperationQueue(maxConcurrentOperationCount: $0, isSuspended: true) }
        let bodies = Atomic<Int>(0)
        var cancelled: [AsyncOperation<Void>] = []
        for number in 0..<count {
            let claims = names.someClaims(&random)
            // A few bodies suspend while they hold the names.
            let yields = random.isLucky(percent: 2) ? random.number(1...4) : 0
            let operation = AsyncOperation<Void> {
                names.begin(claims)
                for _ in 0..<yields { await Task.yield() }
                names.end(claims)
                bodies.add(1, ordering: .relaxed)
            }
            for claim in claims { operation.addCondition(names.exclusion(claim)) }
            if random.isLucky(percent: 10) { operation.priority = random.pick(OperationPriority.allCases) }
            queues[random.number(0...queues.count - 1)].add(operation)
            // Most of these operations are waiting for their names.
            if number.isMultiple(of: 500) {
                operation.cancel()
                cancelled.append(operation)
            }
        }
        for queue in queues { queue.isSuspended = false }
        for queue in queues { await queue.waitUntilIdle() }
        #expect(queues.allSatisfy { $0.operationCount == 0 })
        let unrun = cancelled.count { $0.error != nil }
        #expect(bodies.load(ordering: .relaxed) + unrun == count)
        #expect(names.faults == 0, "names were held together that exclude each other")
    }
}

/// Names, and the shares that operations hold.
private final class ManyNames: Sendable {
    typealias Claim = (name: Int, share: ExclusionNote.Share)

    private final class Name: Sendable {
        let limit: Int?
        /// The sum of the shares that are held: 1 for a shared holder, ``permit`` for each permit, ``exclusive`` for
        /// an exclusive holder. Accesses are relaxed, because they must not order what the engine has to order itself.
        let held = Atomic<Int>(0)

        init(limit: Int?) { self.limit = limit }
    }

    private static let permit = 1 << 20
    private static let exclusive = 1 << 40
    private let names: [Name]
    private let faultCount = Atomic<Int>(0)

    init(_ count: Int, _ random: inout SeededRandom) {
        names = (0..<count).map { Name(limit: $0.isMultiple(of: 3) ? random.number(1...8) : nil) }
    }

    var faults: Int { faultCount.load(ordering: .relaxed) }

    /// Returns at most three requests for different names.
    func someClaims(_ random: inout SeededRandom) -> [Claim] {
        Set(random.some(random.number(0...3), of: Array(names.indices))).sorted().map { name in
            if let limit = names[name].limit, random.isLucky(percent: 80) {
                return (name, .permits(random.number(1...limit)))
            }
            return (name, random.pick([.exclusive, .shared]))
        }
    }

    func exclusion(_ claim: Claim) -> Exclusion {
        let text = "one of many \(claim.name)"
        switch claim.share {
        case .exclusive: return .mutuallyExclusive(text)
        case .shared: return .mutuallyExclusive(text, mode: .shared)
        case .permits(let weight): return .limited(text, to: names[claim.name].limit!, weight: weight)
        }
    }

    func begin(_ claims: [Claim]) {
        for claim in claims {
            let name = names[claim.name]
            let held = name.held.add(Self.amount(of: claim.share), ordering: .relaxed).oldValue
            let isAllowed =
                switch claim.share {
                case .exclusive: held == 0
                case .shared: held < Self.exclusive
                case .permits(let weight): held < Self.exclusive && held / Self.permit + weight <= name.limit!
                }
            if !isAllowed { faultCount.add(1, ordering: .relaxed) }
        }
    }

    func end(_ claims: [Claim]) {
        for claim in claims { names[claim.name].held.subtract(Self.amount(of: claim.share), ordering: .relaxed) }
    }

    private static func amount(of share: ExclusionNote.Share) -> Int {
        switch share {
        case .exclusive: exclusive
        case .shared: 1
        case .permits(let weight): weight * permit
        }
    }
}

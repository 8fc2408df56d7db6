import BatonTesting
import Testing

@testable import Baton

/// Applies random events to random families, and compares the state machine with the model after each of them.
@Suite struct ExclusionStateMachineModelTests {
    final class Owner {
        let number: Int
        init(_ number: Int) { self.number = number }
    }

    struct Link: Hashable {
        let waiting: Int
        let blocker: Int
    }

    struct Game {
        var random: SeededGenerator
        let owners: [Owner]
        var machine = ExclusionStateMachine<Owner>()
        var model: ExclusionStateMachineModel
        let limits = [2, 3, 5]
        let nameCount: Int
        let mixesLimits: Bool

        init(seed: UInt64) {
            var random = SeededGenerator(seed: seed)
            let count = Int.random(in: 3...8, using: &random)
            owners = (0..<count).map { Owner($0) }
            let isFlat = Int.random(in: 0..<4, using: &random) == 0
            model = ExclusionStateMachineModel(
                parents: (0..<count).map { number in
                    let parent = Int.random(in: -2..<max(number, 1), using: &random)
                    return isFlat || number == 0 || parent < 0 ? nil : parent
                })
            nameCount = Int.random(in: 1...3, using: &random)
            mixesLimits = Int.random(in: 0..<8, using: &random) == 0
            self.random = random
        }

        private mutating func exclusion() -> Exclusion {
            let number = Int.random(in: 0..<nameCount, using: &random)
            let limit = mixesLimits ? Int.random(in: 1...4, using: &random) : limits[number]
            switch Int.random(in: 0..<5, using: &random) {
            case 0: return .mutuallyExclusive("\(number)")
            case 1: return .mutuallyExclusive("\(number)", mode: .shared)
            case _:
                let weight = Int.random(in: 1...(mixesLimits ? 4 : limit), using: &random)
                return .limited("\(number)", to: limit, weight: weight)
            }
        }

        /// Applies one event. Returns the owners to which the model and the state machine grant their claims.
        mutating func step() -> (what: String, expected: [Int], granted: [Int]) {
            let owner = owners[Int.random(in: 0..<owners.count, using: &random)]
            let number = owner.number
            if model.claim(of: number) == nil {
                let count = Int.random(in: 1...2, using: &random)
                let demands = ExclusionSet((0..<count).map { _ in exclusion() })
                var ancestors: [Owner] = []
                while let next = model.parents[ancestors.last?.number ?? number] { ancestors.append(owners[next]) }
                let isFurtherAttempt = Int.random(in: 0..<3, using: &random) == 0
                let answer = machine.request(owner, demands, inside: ancestors, isFurtherAttempt: isFurtherAttempt)
                return (
                    "\(number) asks\(isFurtherAttempt ? " again" : "")",
                    model.request(number, demands, isFurtherAttempt: isFurtherAttempt),
                    answer == .granted ? [number] : []
                )
            }
            if Int.random(in: 0..<4, using: &random) == 0 {
                return ("\(number) steps aside", model.leaveQueues(number), machine.leaveQueues(owner).map(\.number))
            }
            return ("\(number) releases", model.release(number), machine.release(owner).granted.map(\.number))
        }

        func expectedClaimState(of number: Int) -> ExclusionStateMachine<Owner>.ClaimState {
            guard let claim = model.claim(of: number) else { return .none }
            return claim.isHolding ? .held : .waiting(isQueued: claim.isInLine)
        }

        var expectedLinks: Set<Link> {
            var links: Set<Link> = []
            for claim in model.claims where !claim.isHolding {
                for demand in claim.demands {
                    for holder in model.holdersBlocking(claim, demand) {
                        links.insert(Link(waiting: claim.owner, blocker: holder))
                    }
                }
            }
            return links
        }

        var links: [Link] {
            owners.flatMap { owner in
                machine.blockers(of: owner).map { Link(waiting: owner.number, blocker: $0.number) }
            }
        }

        /// Returns the owners that the claim waits for: the holders that block it, and the holders that block the
        /// claims before it in its queues, transitively.
        private func blockers(behindLinesOf owner: Int) -> Set<Int> {
            var found: Set<Int> = []
            var waiting = [owner]
            var seen: Set<Int> = [owner]
            while let next = waiting.popLast() {
                guard let claim = model.claim(of: next), !claim.isHolding else { continue }
                for demand in claim.demands {
                    found.formUnion(model.holdersBlocking(claim, demand))
                    if !claim.isInLine { continue }
                    for ahead in model.before(next, demand.name) where seen.insert(ahead).inserted {
                        waiting.append(ahead)
                    }
                }
            }
            return found
        }

        /// True if the possible blockers include all blockers, so that a search that ignores the queues misses no
        /// cycle.
        var possibleBlockersIncludeAll: Bool {
            var expected: Set<Link> = []
            for owner in owners {
                let blockers = blockers(behindLinesOf: owner.number)
                expected.formUnion(blockers.map { Link(waiting: owner.number, blocker: $0) })
            }
            var forth: Set<Link> = []
            var back: Set<Link> = []
            for owner in owners {
                var search = ExclusionTable.BlockerSearch(limit: .max)
                for other in machine.possibleBlockers(of: owner, within: &search) {
                    forth.insert(Link(waiting: owner.number, blocker: other.number))
                }
                search = ExclusionTable.BlockerSearch(limit: .max)
                for other in machine.possiblyBlocked(by: owner, within: &search) {
                    back.insert(Link(waiting: other.number, blocker: owner.number))
                }
            }
            return expected.isSubset(of: forth) && expected.isSubset(of: back)
        }

        mutating func fitsAsExpected(_ owner: Owner) -> Bool {
            let gone = owners.filter { $0 !== owner && Bool.random(using: &random) }
            let expected = model.fits(owner.number, without: Set(gone.map(\.number)))
            let others = owners.filter { other in !gone.contains { $0 === other } }
            return machine.fits(owner, beside: Set(others.map { ObjectIdentifier($0) })) == expected
        }

        func hasExpectedObstacle(_ owner: Owner) -> Bool {
            let obstacle = machine.obstacle(for: owner)
            guard let claim = model.claim(of: owner.number), !claim.isHolding else { return obstacle == nil }
            for demand in claim.demands {
                let holders = model.holdersBlocking(claim, demand)
                if holders.isEmpty { continue }
                return obstacle.map { $0.name == demand.name && holders.contains($0.holder.number) } ?? false
            }
            for demand in claim.demands where claim.isInLine {
                guard let ahead = model.before(owner.number, demand.name).last else { continue }
                return obstacle?.name == demand.name && obstacle?.holder.number == ahead
            }
            return obstacle == nil
        }
    }

    /// A difference between the state machine and the model. Its description contains the seed.
    struct Difference: Error, CustomStringConvertible {
        let description: String
    }

    private static func play(_ seed: UInt64) throws {
        var game = Game(seed: seed)
        // `#require` would take longer than the comparison.
        func same(_ isSame: Bool, _ what: String, after step: @autoclosure () -> String) throws {
            if !isSame { throw Difference(description: "seed \(seed): \(what) after \(step())") }
        }
        for number in 0..<25 {
            let step = game.step()
            func place() -> String { "step \(number), \(step.what)" }
            try same(step.granted == step.expected, "grants", after: place())
            for owner in game.owners {
                let claimState = game.machine.claimState(of: owner)
                try same(claimState == game.expectedClaimState(of: owner.number), "states of claims", after: place())
            }
            // The queries take longer than the events, so they are checked at every sixth step only.
            if number % 6 != 5 { continue }
            try same(game.model.isValid, "validity of scopes", after: place())
            let links = game.links
            try same(Set(links) == game.expectedLinks, "blockers", after: place())
            try same(Set(links).count == links.count, "number of blockers", after: place())
            try same(game.possibleBlockersIncludeAll, "possible blockers", after: place())
            for owner in game.owners {
                try same(game.fitsAsExpected(owner), "fits", after: place())
                try same(game.hasExpectedObstacle(owner), "obstacle", after: place())
            }
        }
        for owner in game.owners {
            let granted = game.machine.release(owner).granted.map(\.number)
            try same(granted == game.model.release(owner.number), "grants", after: "the end")
        }
        try same(game.machine.isEmpty, "emptiness", after: "the end")
    }

    @Test(arguments: 0..<4) func standsWhereThePlainModelStands(_ part: UInt64) throws {
        for seed in 0..<UInt64(tries(300)) { try Self.play(part * 1_000_000 + seed) }
    }
}

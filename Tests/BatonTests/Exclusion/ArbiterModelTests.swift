import BatonTesting
import Testing

@testable import Baton

/// Random events for random families, after each of which the arbiter stands where the plain model stands.
@Suite struct ArbiterModelTests {
    final class Owner {
        let number: Int
        init(_ number: Int) { self.number = number }
    }

    struct Link: Hashable {
        let waiting: Int
        let blocker: Int
        let kind: Ledger.Edge.Kind
    }

    struct Game {
        var random: SeededGenerator
        let owners: [Owner]
        var arbiter = Arbiter<Owner>()
        var model: ArbiterModel
        let limits = [2, 3, 5]
        let nameCount: Int
        let mixesLimits: Bool

        init(seed: UInt64) {
            var random = SeededGenerator(seed: seed)
            let count = Int.random(in: 3...8, using: &random)
            owners = (0..<count).map { Owner($0) }
            let isFlat = Int.random(in: 0..<4, using: &random) == 0
            model = ArbiterModel(
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

        /// An event, and whom the model and the arbiter granted something.
        mutating func step() -> (what: String, expected: [Int], granted: [Int]) {
            let owner = owners[Int.random(in: 0..<owners.count, using: &random)]
            let number = owner.number
            if model.claim(of: number) == nil {
                let count = Int.random(in: 1...2, using: &random)
                let demands = ExclusionSet((0..<count).map { _ in exclusion() })
                var ancestors: [Owner] = []
                while let next = model.parents[ancestors.last?.number ?? number] { ancestors.append(owners[next]) }
                let answer = arbiter.request(owner, demands, inside: ancestors)
                return (
                    "\(number) asks", model.request(number, demands), answer == .granted ? [number] : []
                )
            }
            if Int.random(in: 0..<4, using: &random) == 0 {
                return ("\(number) steps aside", model.leaveLine(number), arbiter.leaveLine(owner).map(\.number))
            }
            return ("\(number) releases", model.release(number), arbiter.release(owner).granted.map(\.number))
        }

        func expectedStanding(of number: Int) -> Arbiter<Owner>.Standing {
            guard let claim = model.claim(of: number) else { return .none }
            return claim.isHolding ? .held : .waiting(inLine: claim.isInLine)
        }

        var expectedLinks: Set<Link> {
            var links: Set<Link> = []
            for claim in model.claims where !claim.isHolding {
                for demand in claim.demands {
                    for holder in model.holdersBlocking(claim, demand) {
                        links.insert(Link(waiting: claim.owner, blocker: holder, kind: .holder))
                    }
                    if claim.isInLine, let ahead = model.before(claim.owner, demand.name).last {
                        links.insert(Link(waiting: claim.owner, blocker: ahead, kind: .line))
                    }
                }
            }
            return links
        }

        var links: (forth: [Link], back: [Link]) {
            (
                owners.flatMap { owner in
                    arbiter.blockers(of: owner).map {
                        Link(waiting: owner.number, blocker: $0.owner.number, kind: $0.kind)
                    }
                },
                owners.flatMap { owner in
                    arbiter.blocked(by: owner).map {
                        Link(waiting: $0.owner.number, blocker: owner.number, kind: $0.kind)
                    }
                }
            )
        }

        func expectedObstacle(_ number: Int) -> (ExclusionName, [Int])? {
            guard let claim = model.claim(of: number), !claim.isHolding else { return nil }
            for demand in claim.demands {
                let holders = model.holdersBlocking(claim, demand)
                if !holders.isEmpty { return (demand.name, holders) }
            }
            for demand in claim.demands where claim.isInLine {
                if let ahead = model.before(number, demand.name).last { return (demand.name, [ahead]) }
            }
            return nil
        }
    }

    private static func play(_ seed: UInt64) throws {
        var game = Game(seed: seed)
        for number in 0..<25 {
            let step = game.step()
            let place: Comment = "seed \(seed), step \(number): \(step.what)"
            try #require(step.granted == step.expected, place)
            for owner in game.owners where game.arbiter.standing(of: owner) != game.expectedStanding(of: owner.number) {
                Issue.record("\(place): \(owner.number) is \(game.arbiter.standing(of: owner))")
            }
            // The questions take longer than the events.
            if number % 5 == 4 { try ask(&game, place) }
        }
        for owner in game.owners {
            let granted = game.arbiter.release(owner).granted.map(\.number)
            try #require(granted == game.model.release(owner.number), "seed \(seed), at the end")
        }
        try #require(game.arbiter.isEmpty, "seed \(seed), at the end")
    }

    private static func ask(_ game: inout Game, _ place: Comment) throws {
        try #require(game.model.isValid, place)
        let links = game.links
        let (forth, back, expected) = (Set(links.forth), Set(links.back), game.expectedLinks)
        try #require(forth == expected, place)
        try #require(back == forth, place)
        try #require(forth.count == links.forth.count && back.count == links.back.count, place)
        for owner in game.owners {
            let gone = Set(game.owners.indices.filter { _ in Bool.random(using: &game.random) })
                .subtracting([owner.number])
            let keys = Set(gone.map { ObjectIdentifier(game.owners[$0]) })
            let fits = game.arbiter.fits(owner, without: keys)
            try #require(fits == game.model.fits(owner.number, without: gone), place)
            let obstacle = game.arbiter.obstacle(for: owner)
            let expected = game.expectedObstacle(owner.number)
            try #require(obstacle?.name == expected?.0, place)
            if let obstacle { try #require(expected?.1.contains(obstacle.holder.number) == true, place) }
        }
    }

    @Test(arguments: 0..<4) func standsWhereThePlainModelStands(_ part: UInt64) throws {
        for seed in 0..<500 as Range<UInt64> { try Self.play(part * 1_000_000 + seed) }
    }
}

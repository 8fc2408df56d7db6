import Baton

/// A name that operations of a round hold. Its text differs from round to round, because names are the whole process's.
struct NameNote: Sendable {
    enum Scope: Sendable {
        /// That of the queues.
        case ofQueues
        case process
        case ofRound
    }

    /// All who take permits of it say so; nil: nobody does.
    let limit: Int?
    /// Where it counts.
    let scope: Scope

    func scope(at site: Site) -> OperationScope? {
        switch scope {
        case .ofQueues: nil
        case .process: .process
        case .ofRound: site.scope
        }
    }
}

/// What is asked of a name.
struct ExclusionNote: Sendable, Equatable {
    enum Share: Sendable, Equatable {
        case exclusive
        case shared
        case permits(Int)
    }

    /// Its place in the graph's list.
    let name: Int
    var share: Share

    func made(at site: Site) -> Exclusion {
        let text = "\(site.namePrefix) \(name)"
        let scope = site.ledger.graph.names[name].scope(at: site)
        switch share {
        case .exclusive: return .mutuallyExclusive(text, within: scope)
        case .shared: return .mutuallyExclusive(text, mode: .shared, within: scope)
        case .permits(let weight):
            return .limited(text, to: site.ledger.graph.names[name].limit!, weight: weight, within: scope)
        }
    }
}

extension ExclusionNote.Share {
    /// Of one who asks twice.
    func merged(with other: Self) -> Self {
        switch (self, other) {
        case (.exclusive, _), (_, .exclusive): .exclusive
        case (.permits(let one), .permits(let two)): .permits(max(one, two))
        case (.permits, .shared), (.shared, .shared): self
        case (.shared, .permits): other
        }
    }
}

extension Node {
    /// What is held while the body runs.
    var namesOfTheRun: [ExclusionNote] { exclusions + namesOfTheEvaluation }

    /// What is held while the conditions are evaluated.
    var namesOfTheEvaluation: [ExclusionNote] { conditions.flatMap { $0.shape.leaves.flatMap(\.exclusions) } }
}

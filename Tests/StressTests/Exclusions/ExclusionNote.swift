import Baton

/// A name that operations of a round hold. Its text differs from round to round, because names belong to the whole
/// process.
struct NameNote: Sendable {
    enum Scope: Sendable {
        /// The scope of the queues.
        case ofQueues
        case process
        case ofRound
    }

    /// The limit that every operation passes when it takes permits of the name, or nil if the name has no permits.
    let limit: Int?
    /// The scope in which the name counts.
    let scope: Scope

    func scope(at site: Site) -> OperationScope? {
        switch scope {
        case .ofQueues: nil
        case .process: .process
        case .ofRound: site.scope
        }
    }
}

/// A request for a name.
struct ExclusionNote: Sendable, Equatable {
    enum Share: Sendable, Equatable {
        case exclusive
        case shared
        case permits(Int)
    }

    /// The index of the name in the graph's list.
    let name: Int
    var share: Share

    func made(at site: Site) -> Exclusion {
        let text = "\(site.namePrefix) \(name)"
        let scope = site.recorder.graph.names[name].scope(at: site)
        switch share {
        case .exclusive: return .mutuallyExclusive(text, within: scope)
        case .shared: return .mutuallyExclusive(text, mode: .shared, within: scope)
        case .permits(let weight):
            return .limited(text, to: site.recorder.graph.names[name].limit!, weight: weight, within: scope)
        }
    }
}

extension ExclusionNote.Share {
    /// Merges two requests of one operation for the same name.
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
    /// The exclusions that the operation holds while its body runs.
    var namesOfTheRun: [ExclusionNote] { exclusions + namesOfTheEvaluation }

    /// The exclusions that the operation holds while its conditions are evaluated.
    var namesOfTheEvaluation: [ExclusionNote] { conditions.flatMap { $0.shape.leaves.flatMap(\.exclusions) } }
}

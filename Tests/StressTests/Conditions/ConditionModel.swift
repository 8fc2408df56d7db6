import Baton

/// The answers of conditions, given the outcomes of their dependencies.
extension Model {
    private enum Answer {
        case satisfied
        case skip(String)
        case threw(String)

        var isSatisfied: Bool { if case .satisfied = self { true } else { false } }
    }

    /// Returns the outcome with which the conditions of a node keep it from running, which is that of the first
    /// condition that is not satisfied; empty if there is none.
    ///
    /// - Parameter fresh: Returns the outcome of the operation that the leaf has brought along.
    func refusals(_ node: Node, _ known: (Int) -> Outcome, fresh: (Leaf, FreshNote) -> Outcome) -> [Outcome] {
        let answers = node.conditions.map { ($0.shape.name, answer($0.shape, isSilent: false, known, fresh)) }
        guard let (name, answer) = answers.first(where: { !$0.1.isSatisfied }) else { return [] }
        switch answer {
        case .satisfied, .threw(""): return [.conditionFailed(name, cause: "")]
        case .threw(let cause): return [.conditionFailed(name, cause: cause)]
        case .skip(let text): return [.skippedByCondition(text)]
        }
    }

    private func answer(
        _ shape: Shape, isSilent: Bool, _ known: (Int) -> Outcome, _ fresh: (Leaf, FreshNote) -> Outcome
    ) -> Answer {
        func answer(_ shape: Shape, isSilent: Bool = isSilent) -> Answer {
            self.answer(shape, isSilent: isSilent, known, fresh)
        }
        switch shape {
        case .leaf(let leaf):
            if !isSilent, let outcome = broughtOutcome(leaf, known, fresh), outcome.number == nil {
                return .threw("\(outcome.withoutLists)")
            }
            switch leaf.answer {
            case .satisfied: return .satisfied
            case .skip: return .skip(leaf.name)
            case .error: return .threw(leaf.name)
            }
        case .silent(let base): return answer(base, isSilent: true)
        case .negated(let base):
            if case .satisfied = answer(base) { return .threw("satisfied \(base.name)") }
            return .satisfied
        case .and(let one, let other):
            if case .satisfied = answer(one) { return answer(other) }
            return answer(one)
        case .or(let one, let other):
            switch (answer(one), answer(other)) {
            case (.satisfied, _), (_, .satisfied): return .satisfied
            case (.skip(let text), _), (_, .skip(let text)): return .skip(text)
            case (.threw(let first), .threw(let second)): return .threw("neither \(first) nor \(second)")
            }
        }
    }

    private func broughtOutcome(
        _ leaf: Leaf, _ known: (Int) -> Outcome, _ fresh: (Leaf, FreshNote) -> Outcome
    ) -> Outcome? {
        switch leaf.brought {
        case .nothing: nil
        case .fresh(let note): fresh(leaf, note)
        case .node(let id): known(id)
        }
    }

    /// Returns the outcome of an operation that a condition brings along, if nothing is cancelled.
    func prediction(_ note: FreshNote, of leaf: Leaf) -> Outcome {
        for source in note.sources {
            let outcome = prediction(source, of: leaf)
            if outcome.number == nil { return .skipped(by: -1, outcome.kind) }
        }
        switch note.end {
        case .success: return .value(0)
        case .error: return .conditionThrew(leaf.name)
        case .skip: return .skippedByCondition("fresh for \(leaf.name)")
        }
    }
}

import Baton

/// The outcomes of bodies that may run more than once.
extension Model {
    /// The outcomes and attempts of a body if nothing is cancelled and only limits that are certain to be reached are
    /// reached.
    struct Course {
        let outcomes: [Outcome]
        /// The number of times that the body runs.
        let runs: Int
        /// The number of attempts of the last repetition.
        let attempts: Int
    }

    func course(of node: Node, _ note: AttemptNote, _ known: (Int) -> Outcome) -> Course {
        let whole = outcomes(of: node, known)
        let failing = failingOutcomes(of: node, note, known)
        var attempt = 0
        while true {
            attempt += 1
            let ended = attempt <= note.failures ? failing : whole
            if ended[0].number != nil {
                let repetitions = note.repetition?.runs ?? 1
                return Course(outcomes: ended, runs: attempt * repetitions, attempts: attempt)
            }
            if attempt >= note.attempts ?? 1 { return Course(outcomes: ended, runs: attempt, attempts: attempt) }
            switch note.consent {
            case .no(let from) where attempt > from:
                return Course(outcomes: ended, runs: attempt, attempts: attempt)
            case .throwing(at: attempt - 1):
                return Course(outcomes: [.consentThrew(node.id)], runs: attempt, attempts: attempt)
            case .always, .no, .throwing: break
            }
        }
    }

    /// Returns true if no attempt performs all steps of the body.
    func alwaysFailsEarly(_ node: Node, _ known: (Int) -> Outcome) -> Bool {
        guard let note = node.attempts else { return false }
        return course(of: node, note, known).attempts <= note.failures
    }

    private func failingOutcomes(of node: Node, _ note: AttemptNote, _ known: (Int) -> Outcome) -> [Outcome] {
        var node = node
        node.steps = Array(node.steps.prefix(note.stepsBeforeFailing))
        node.throwsAtTheEnd = true
        let outcomes = outcomes(of: node, known)
        guard note.stalls, outcomes == [.threw(node.id)], let limit = node.limits.attempt else { return outcomes }
        return [.timedOut(limit)]
    }

    /// Returns the other outcomes that are possible if limits cancel attempts of the body.
    func outcomesWithLimits(_ node: Node, _ known: (Int) -> Outcome) -> [Outcome] {
        var all = node.shortLimits.map { Outcome.timedOut($0) }
        guard let note = node.attempts, node.mayBeCut else { return all }
        // The deadline may be reached before the next attempt.
        if note.failures > 0 { all += failingOutcomes(of: node, note, known) }
        if case .throwing = note.consent { all.append(.consentThrew(node.id)) }
        return all + outcomes(of: node, known)
    }
}

import Baton

extension Graph {
    /// Adds attempts, repetitions and time limits to the node. The steps of the node must have been generated.
    func addTimes(to node: inout Node, _ random: inout SeededRandom, retried: Int, limited: Int) {
        if !node.isBodyless, !node.hasSideEffects, random.isLucky(percent: retried) {
            node.attempts = attempts(of: node, &random)
        }
        let isStalling = node.attempts?.stalls ?? false
        if isStalling || random.isLucky(percent: limited) {
            // In an exact graph a limit must be certain to be reached, not to be reached, or not to matter.
            let mayCome = !isExact || isStalling || node.attempts?.failures ?? 0 == 0 && node.ignoresCancels
            node.limits.attempt = mayCome ? .ticks(random.number(1...8)) : LimitNote.never
        }
        if random.isLucky(percent: limited) {
            node.limits.waiting =
                isExact ? LimitNote.never : random.pick([LimitNote.never, .ticks(random.number(0...30))])
        }
    }

    private func attempts(of node: Node, _ random: inout SeededRandom) -> AttemptNote {
        var note = AttemptNote()
        note.failures = random.pick([0, 1, 1, 2, 3])
        note.stepsBeforeFailing = random.number(0...node.steps.count)
        note.stalls = note.failures > 0 && (!isExact || node.ignoresCancels) && random.isLucky(percent: 30)
        if random.isLucky(percent: 85) {
            note.attempts = random.number(1...4)
            note.backoff = Self.backoff(&random)
            let mayDisagree: [AttemptNote.Consent] = [
                .always, .always, .no(from: random.number(0...2)), .throwing(at: random.number(0...2)),
            ]
            note.consent = random.pick(mayDisagree)
            note.asksSlowly = random.isLucky(percent: 30)
            note.asksAlone = random.isLucky(percent: 15)
            if note.asksAlone { note.backoff = .immediately }
            if !note.asksAlone, random.isLucky(percent: 20) {
                note.deadline = isExact ? LimitNote.never : .ticks(random.number(1...30))
            }
        }
        if note.attempts == nil || random.isLucky(percent: 20) {
            note.repetition = RepetitionNote(
                interval: .ticks(random.number(0...6)), count: random.pick([nil, 1, 2, 3]),
                isDoneAfter: random.number(1...3))
        }
        return note
    }

    private static func backoff(_ random: inout SeededRandom) -> AttemptNote.Backoff {
        let delay = Duration.ticks(random.number(1...8))
        switch random.number(0...4) {
        case 0: return .immediately
        case 1: return .exponential(delay)
        case 2: return .honoring(delay)
        default: return .constant(delay)
        }
    }
}

extension Node {
    /// True if a second run of the steps would have another effect, or if other operations continue with them after
    /// the body has returned.
    fileprivate var hasSideEffects: Bool {
        steps.contains { step in
            switch step {
            case .produce, .addToGroup, .abandon: true
            case .yield, .work, .block, .cancelOwnTask, .gate, .checkCancellation, .value, .run, .cancel,
                .cancelWhenCancelled:
                false
            }
        }
    }

    /// True if the body does the same whether it is cancelled or not, and has an output.
    fileprivate var ignoresCancels: Bool {
        !isBodyless && !throwsAtTheEnd
            && steps.allSatisfy { step in
                switch step {
                case .yield, .work, .block, .gate(_, heedsCancel: false), .value(_, .caught): true
                default: false
                }
            }
    }
}

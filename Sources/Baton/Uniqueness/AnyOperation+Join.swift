/// An operation that has joined another one, its original.
///
/// It is added, with one edge to the original, and one count besides, so that it never becomes ready and takes no
/// permit. It ends as an operation does that ends before it runs: when the original tells it, or earlier when it is
/// cancelled. Whoever takes it from the original's list takes that count back.
extension AnyOperation {
    /// Nil: this has finished, and nobody can join it.
    final func takeJoiner(_ joiner: AnyOperation) -> Int? {
        withLife { life in life.phase == .finished ? nil : life.optionalState?.uniqueness?.add(joiner) }
    }

    /// Told by the thread on which the original has finished.
    final func originalEnded(_ original: AnyOperation) {
        endBeforeRun(as: original)?.settle()
        letGoAsJoiner()
    }

    /// Its last source lets it go, or this does.
    fileprivate final func letGoAsJoiner() {
        if case .ended = dependencyCounter.countDown() { AnyOperation.letGo(ended: .passUnretained(self)) }
    }

    /// Some other operation than those who have joined this needs it, whose outcome is not decided.
    final func isNeeded(by dependents: [AnyOperation]) -> Bool {
        dependents.contains { dependent in
            !dependent.isFence
                && dependent.withLife { life in
                    !life.isDecided && life.optionalState?.uniqueness?.joined?.original !== self
                }
        }
    }
}

extension Joined {
    /// It has ended. If the original has not, one less is interested in that.
    func leave(_ joiner: AnyOperation) {
        let (isListed, reason) = original.withLife { life -> (Bool, CancellationReason?) in
            // After the finish it is the original that tells.
            guard let uniqueness = life.optionalState?.uniqueness else { return (false, nil) }
            return (true, uniqueness.remove(joinerAt: place))
        }
        if isListed { joiner.letGoAsJoiner() }
        // Somebody may join in between.
        if let reason { original.cancel(reason: reason) { $0.optionalState?.uniqueness?.isUnwanted ?? false } }
    }
}

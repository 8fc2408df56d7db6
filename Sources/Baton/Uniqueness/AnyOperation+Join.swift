/// An operation that has joined another one, its original.
///
/// The operation is added with one edge to the original and one additional count in its dependency counter, so that it
/// never becomes ready and takes no permit. It ends as an operation that does not run: when the original tells it, or
/// earlier when it is cancelled. The thread that takes it from the original's list takes back the additional count.
extension AnyOperation {
    /// Adds an operation that joins this one, and returns its place. Returns nil if this operation has finished and
    /// cannot be joined.
    final func addJoiner(_ joiner: AnyOperation) -> Int? {
        withLife { life in life.phase == .finished ? nil : life.optionalState?.uniqueness?.add(joiner) }
    }

    /// Called by the thread that finishes the original.
    final func originalEnded(_ original: AnyOperation) {
        endBeforeRun(as: original)?.complete()
        letGoAsJoiner()
    }

    /// Takes back the additional count. The last count that goes releases the operation, here or with its last source.
    fileprivate final func letGoAsJoiner() {
        if case .ended = dependencyCounter.countDown() { AnyOperation.releaseAfterEarlyEnd(.passUnretained(self)) }
    }

    /// True if an operation needs this one without having joined it, and its own outcome is not decided.
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
    /// Removes an operation that has ended from its original. The original is cancelled if nobody is interested in it
    /// any more.
    func leave(_ joiner: AnyOperation) {
        let (isListed, reason) = original.withLife { life -> (Bool, CancellationReason?) in
            // A finished original has taken its list, and tells the operations in it.
            guard let uniqueness = life.optionalState?.uniqueness else { return (false, nil) }
            return (true, uniqueness.remove(joinerAt: place))
        }
        if isListed { joiner.letGoAsJoiner() }
        // The condition is checked in the step that cancels, because another operation may join in between.
        if let reason { original.cancel(reason: reason) { $0.optionalState?.uniqueness?.isUnwanted ?? false } }
    }
}

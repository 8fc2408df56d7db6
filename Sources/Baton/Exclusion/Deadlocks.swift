/// Finds operations that wait for one another because of the names that they hold, and ends one of them.
///
/// Who waits for names waits for those who hold them, and in line for those who came before; the rest are the waits of
/// ``CycleFinder``. A cycle of such waits is a deadlock only if nobody else can make room: of several holders of a
/// limited name one is enough.
///
/// Called when a claim begins to wait, and when a wait begins while somebody who holds names waits: whoever closes a
/// cycle last finds it. Nearly always there is none, and this takes a few steps however many operations wait:
///
/// 1. A ``Suspicion`` is looked for from the new wait, from both of its ends. Lines do not count in it, only names.
/// 2. If there is one, a ``DeadlockedSet`` says who can never finish whatever the lines are. The cycle in it is broken.
/// 3. If there is none, but somebody on the way stands in a line, an ``Outlook`` plays the lines to their end.
///
/// What is too large for that is left to a sweep of the queue in the background (``PendingSuspects``): a deadlock does
/// not go away by itself.
enum Deadlocks {
    /// What is looked at by the caller who has closed a cycle, of everything.
    static let limit = 256

    /// - Parameter body: What has begun to wait for the origin. Nil: the origin itself has begun to wait.
    static func `break`(through origin: AnyOperation, awaitedBy body: AnyOperation? = nil) {
        for _ in 0..<limit {
            switch Suspicion.of(origin, awaitedBy: body) {
            case .none: return
            case .unknown: return sweepLater(origin, awaitedBy: body)
            case .cycle: break
            }
            let deadlockedSet = DeadlockedSet(from: origin)
            if deadlockedSet.includes(origin) {
                // Seen twice, it was so all the time in between, and everything in it at once.
                if !deadlockedSet.isPart(of: DeadlockedSet(from: origin)) { continue }
                guard let cycle = deadlockedSet.cycle(preferring: origin) else { return }
                cycle.break()
                continue
            }
            if deadlockedSet.isCut { return sweepLater(origin, awaitedBy: body) }
            if !deadlockedSet.dependsOnLines { return }
            guard let outlook = Outlook(from: [origin], limit: limit),
                let second = Outlook(from: [origin], limit: limit)
            else { return sweepLater(origin, awaitedBy: body) }
            if outlook.isClear { return }
            outlook.resolve(confirmedBy: second)
        }
        sweepLater(origin, awaitedBy: body)
    }

    private static func sweepLater(_ origin: AnyOperation, awaitedBy body: AnyOperation?) {
        (body ?? origin).core?.sweepLater(.init(deadlocks: [origin]))
    }

    /// Looks at all of them together, without a limit, until there is no deadlock among what they wait for.
    static func sweep(_ suspects: [AnyOperation]) async {
        var passes = 0
        while passes < limit, resolve(suspects) {
            passes += 1
            await Task.yield()
        }
    }

    /// As above, but at once.
    static func sweepAtOnce(_ suspects: [AnyOperation]) {
        var passes = 0
        while passes < limit, resolve(suspects) { passes += 1 }
    }

    /// False: there was nothing to resolve.
    private static func resolve(_ suspects: [AnyOperation]) -> Bool {
        guard let outlook = Outlook(from: suspects), !outlook.isClear else { return false }
        if let second = Outlook(from: suspects) { outlook.resolve(confirmedBy: second) }
        return true
    }
}

extension AnyOperation {
    /// Tells one of its claims from the next.
    final var claimNumber: UInt32 { withLife { $0.optionalState?.preconditions.requests ?? 0 } }

    /// It fails, if it still waits for the names of that claim.
    final func endAsDeadlocked(_ path: [OperationReference], claim number: UInt32) {
        enum End {
            case early(EarlyEnd)
            case evaluation(UnsafeContinuation<OperationError?, Never>)
        }
        let error = OperationError.exclusionDeadlock(path)
        let end = withLife { life -> End? in
            guard let preconditions = life.optionalState?.preconditions, preconditions.requests == number else {
                return nil
            }
            // Not one that has been granted in the meantime, or cancelled.
            if life.phase == .evaluating {
                return life.optionalState?.preconditions.takeWaitingEvaluation().map { .evaluation($0) }
            }
            guard preconditions.standing == .requested else { return nil }
            return endBeforeRun(with: error, &life).map { .early($0) }
        }
        switch end {
        case .early(let end): end.settle()
        case .evaluation(let continuation):
            // At once, not when its task goes on: a search would find the same cycle until then.
            ExclusionManager.giveBack(by: self)
            TSanAnnotations.willResume(self)
            continuation.resume(returning: error)
        case nil: break
        }
    }
}

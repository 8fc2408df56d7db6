/// Finds operations that wait for one another because of the names that they hold, and ends one of them.
///
/// Who waits for names waits for those who hold them, and in line for those who came before; the rest are the waits of
/// ``CycleFinder``. A circle of such waits is a deadlock only if nobody else can make room: of several holders of a limited
/// name one is enough. So when a circle is found, what can still finish is worked out from the ones that run.
///
/// Called when a claim begins to wait, and when a wait begins while somebody who holds names waits: whoever closes a circle
/// last finds it.
enum Deadlocks {
    static func `break`(through origin: AnyOperation) {
        while CycleFinder.circle(
            through: origin, waitsFor: { $0.allWaitedFor }, isWaitedForBy: { $0.allThatWait }) != nil
        {
            let standstill = Standstill(from: origin)
            guard standstill.includes(origin) else { return }
            // Seen twice alike, it was so all the time in between, and everything in it at once.
            guard standstill == Standstill(from: origin) else { continue }
            // Those in line who could have their names go ahead, rather than that anybody fails.
            if standstill.members.contains(where: { Claims.leaveLine($0) }) { continue }
            guard let circle = standstill.circle(preferring: origin) else { return }
            circle[0].endAsDeadlocked(circle.map(\.reference), claim: standstill.number(of: circle[0]))
        }
    }
}

/// The operations that can never finish unless one of them fails, of all that one operation waits for.
private struct Standstill: Equatable {
    private struct Member: Equatable {
        let operation: AnyOperation
        let waitsForNames: Bool
        let number: UInt32
    }

    private var stuck: [Member] = []
    private var places: [ObjectIdentifier: Int] = [:]

    init(from origin: AnyOperation) {
        var found = [origin]
        var seen: Set<ObjectIdentifier> = [ObjectIdentifier(origin)]
        var next = 0
        while next < found.count {
            for source in found[next].allWaitedFor where seen.insert(ObjectIdentifier(source)).inserted {
                found.append(source)
            }
            next += 1
        }
        var free: Set<ObjectIdentifier> = []
        var isGrowing = true
        while isGrowing {
            isGrowing = false
            // From the far end, where those are that wait for nobody.
            for operation in found.reversed() where !free.contains(ObjectIdentifier(operation)) {
                if operation.canFinish(given: free) {
                    free.insert(ObjectIdentifier(operation))
                    isGrowing = true
                }
            }
        }
        for operation in found where !free.contains(ObjectIdentifier(operation)) {
            places[ObjectIdentifier(operation)] = stuck.count
            stuck.append(
                Member(
                    operation: operation, waitsForNames: Claims.isWaiting(operation), number: operation.claimNumber))
        }
    }

    var members: [AnyOperation] { stuck.map(\.operation) }

    func includes(_ operation: AnyOperation) -> Bool { member(operation) != nil }

    func number(of operation: AnyOperation) -> UInt32? { member(operation)?.number }

    /// Begins with one that waits for names. Of stuck ones only: others may be on a circle, too, and yet get what they wait
    /// for from somebody else.
    func circle(preferring origin: AnyOperation) -> [AnyOperation]? {
        let claimants = stuck.filter(\.waitsForNames).map(\.operation)
        for claimant in claimants.filter({ $0 === origin }) + claimants {
            let circle = CycleFinder.circle(through: claimant) { $0.allWaitedFor.filter(includes) }
            if let circle { return circle }
        }
        return nil
    }

    private func member(_ operation: AnyOperation) -> Member? { places[ObjectIdentifier(operation)].map { stuck[$0] } }
}

extension AnyOperation {
    fileprivate final var allWaitedFor: [AnyOperation] { waitsFor + Claims.blockers(of: self) }

    fileprivate final var allThatWait: [AnyOperation] { isWaitedForBy + Claims.blocked(by: self) }

    /// Given that these will: it has nothing else to wait for, and gets the names that it asks for.
    fileprivate final func canFinish(given free: Set<ObjectIdentifier>) -> Bool {
        waitsFor.allSatisfy { free.contains(ObjectIdentifier($0)) || $0.hasFinished }
            && Claims.isGrantable(self, without: free)
    }

    /// Tells one of its claims from the next.
    fileprivate final var claimNumber: UInt32 { withLife { $0.details?.rules.requests ?? 0 } }

    /// It fails, if it still waits for the names of that claim.
    fileprivate final func endAsDeadlocked(_ path: [OperationReference], claim number: UInt32?) {
        enum End {
            case early(EarlyEnd)
            case evaluation(UnsafeContinuation<OperationError?, Never>)
        }
        let error = OperationError.exclusionDeadlock(path)
        let end = withLife { life -> End? in
            guard let rules = life.details?.rules, rules.requests == number else { return nil }
            // Not one that has been granted in the meantime, or cancelled.
            if life.phase == .evaluating {
                return life.details?.rules.takeWaitingEvaluation().map { .evaluation($0) }
            }
            guard rules.standing == .requested else { return nil }
            return endBeforeRun(with: error, &life).map { .early($0) }
        }
        switch end {
        case .early(let end): end.settle()
        case .evaluation(let continuation):
            // At once, not when its task goes on: a search would find the same circle until then.
            Claims.giveBack(by: self)
            Handover.willResume(self)
            continuation.resume(returning: error)
        case nil: break
        }
    }
}

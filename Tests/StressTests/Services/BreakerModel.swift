import Baton

/// Follows the questions to one circuit breaker and the ends of the operations that it has admitted, and names what may
/// not happen:
///
/// - A closed breaker refuses an operation.
/// - A breaker admits an operation after the given number of failures in a row, before its open time has passed.
/// - A breaker whose open time has passed, and that has no trial, refuses an operation.
/// - A breaker admits an operation while a trial runs.
/// - A refusal says another time until the trial than the one that is left, or a time although a trial runs.
/// - An operation that the breaker would have admitted before its waits is refused after them, and nothing has opened
///   the breaker or become its trial meanwhile.
///
/// A failure counts if the breaker has neither opened nor closed since it admitted the operation. Any other outcome of
/// a body ends the row, except a cancellation, a skip and the refusal by a breaker.
struct BreakerModel {
    enum Verdict {
        case success
        case failure
        /// The outcome says nothing about the service.
        case nothing
    }

    private struct Admission {
        /// The number of times that the breaker had opened or closed when it admitted the operation.
        let changes: Int
        let isTrial: Bool
    }

    private let failures: Int
    private let openTime: Duration
    private var failuresInARow = 0
    /// The time at which the breaker opened; nil while it is closed.
    private var openSince: Duration?
    private var trial: Int?
    private var changes = 0
    /// The number of trials that have begun.
    private var trials = 0
    private var admissions: [Int: Admission] = [:]
    /// The numbers of changes and trials when an operation began to wait.
    private var passes: [Int: (changes: Int, trials: Int)] = [:]
    private(set) var faults: [String] = []

    init(_ note: ServiceNote) {
        failures = note.failures
        openTime = note.openTime
    }

    var isClosed: Bool { openSince == nil }

    /// Returns true if the operation was admitted and has not ended, so that a further question is not counted.
    func hasAdmitted(_ id: Int) -> Bool { admissions[id] != nil }

    mutating func admitted(_ id: Int, at now: Duration) {
        if let openSince {
            if let trial { faults.append("n\(id) was admitted at \(now), while n\(trial) is the trial") }
            if now < openSince + openTime {
                faults.append("n\(id) was admitted at \(now), and the breaker has been open since \(openSince)")
            }
            trial = id
            trials += 1
        }
        admissions[id] = Admission(changes: changes, isTrial: openSince != nil)
    }

    /// Notes that the breaker was looked at, and would have admitted the operation.
    mutating func passed(_ id: Int, at now: Duration) {
        passes[id] = (changes, trials)
        guard let openSince else { return }
        if let trial { faults.append("n\(id) has passed at \(now), while n\(trial) is the trial") }
        if now < openSince + openTime {
            faults.append("n\(id) has passed at \(now), and the breaker has been open since \(openSince)")
        }
    }

    mutating func refused(_ id: Int, at now: Duration, timeLeft: Duration?) {
        guard let openSince else {
            faults.append("n\(id) was refused at \(now) by a closed breaker")
            return
        }
        let left = trial == nil ? openSince + openTime - now : nil
        if let left, left <= .zero { faults.append("n\(id) was refused at \(now), and could have been the trial") }
        if left != timeLeft { faults.append("n\(id) was told to wait \(timeLeft as Any), not \(left as Any)") }
    }

    /// Notes that the breaker has refused an operation after its waits, at some time since then.
    mutating func refusedAfterWaits(_ id: Int) {
        guard let pass = passes[id] else { return faults.append("n\(id) was refused, and has not passed") }
        if pass == (changes, trials) { faults.append("n\(id) was refused after its waits, and nothing has changed") }
    }

    mutating func ended(_ id: Int, as verdict: Verdict, at now: Duration) {
        guard let admission = admissions.removeValue(forKey: id) else { return }
        if admission.changes != changes { return }
        switch (admission.isTrial, verdict) {
        case (true, .success): close()
        case (true, .failure): open(at: now)
        case (true, .nothing): trial = nil
        case (false, .success): failuresInARow = 0
        case (false, .failure):
            failuresInARow += 1
            if failuresInARow >= failures { open(at: now) }
        case (false, .nothing): break
        }
    }

    private mutating func open(at now: Duration) {
        openSince = now
        trial = nil
        changes += 1
    }

    private mutating func close() {
        openSince = nil
        trial = nil
        failuresInARow = 0
        changes += 1
    }
}

import Baton
import Testing

@testable import BatonTrace

@Suite struct LiveModelTests {
    @Test func countsFollowTheLifeOfOperations() {
        var life = Life()
        life.note(.appeared, 1, 2, 3, 4, 5)
        #expect(life.counts == Counts(waiting: 5))
        life.note(.started, 1, 2, 3, 4)
        #expect(life.counts == Counts(waiting: 1, running: 4))
        life.note(.finished(.done), 1)
        life.note(.finished(.failed("why")), 2)
        life.note(.finished(.cancelled), 3)
        life.note(.finished(.skipped), 5)
        #expect(life.counts == Counts(running: 1, done: 1, failed: 1, cancelled: 1, skipped: 1))
        #expect(life.model.snapshot.whole.total == 5)
        #expect(life.model.openCount == 1)
    }

    @Test func retriedOperationWaitsBetweenItsAttempts() {
        var life = Life()
        life.note(.started, 1)
        life.note(.paused, 1)
        #expect(life.counts == Counts(waiting: 1))
        life.note(.started, 1)
        #expect(life.counts == Counts(running: 1))
    }

    @Test func repeatedNewsIsCountedOnce() {
        var life = Life()
        life.note(.appeared, 1)
        life.note(.started, 1)
        // The events arrived before the model read the queue, so the same news comes twice.
        life.note(.appeared, 1)
        life.note(.started, 1)
        #expect(life.counts == Counts(running: 1))
    }

    @Test(
        "Operations that wait for exclusions or rates are counted as waiting, and a single name is shown")
    func obstaclesAreCounted() {
        var life = Life()
        let db = LiveObstacle.exclusion("‘db’")
        func obstacles(_ life: inout Life) -> String { LiveFormatter.obstacles(life.model.takeSnapshot().whole) }
        life.note(.appeared, 1, 2, 3, 4)
        #expect(obstacles(&life) == "")
        life.note(.blocked(db), 1, 2)
        #expect(life.counts == Counts(waiting: 4))
        #expect(obstacles(&life) == "(2 for the exclusion ‘db’)")
        #expect(life.model.snapshot.stages[0].excluded == 2)
        life.note(.blocked(.rate("‘api’")), 3)
        #expect(obstacles(&life) == "(2 for exclusions, 1 for rates)")
        // Repeated events change nothing; a grant, a start and an end each remove an obstacle.
        life.note(.blocked(db), 1)
        life.note(.unblocked, 1)
        life.note(.unblocked, 1)
        #expect(obstacles(&life) == "(1 for exclusions, 1 for rates)")
        life.note(.started, 3)
        life.note(.finished(.cancelled), 2)
        #expect(obstacles(&life) == "" && life.counts == Counts(waiting: 2, running: 1, cancelled: 1))
        // Operation 3 already runs, so an obstacle that is noted afterwards is ignored.
        life.note(.blocked(db), 3)
        #expect(obstacles(&life) == "")
        life.note(.blocked(.rate("‘api’")), 4)
        #expect(obstacles(&life) == "(1 for the rate ‘api’)")
        #expect(LiveFormatter.counts(life.model.snapshot.stages[0]).hasSuffix("2 waiting (1 for the rate ‘api’)"))
    }

    @Test func unknownOperationAsksForItsStage() {
        var model = LiveModel(keptFailures: 3)
        let stranger = OperationReference(id: 7, name: "stranger")
        let isKnown = model.note(.finished(.done), of: stranger, at: .zero)
        #expect(!isKnown)
        #expect(model.snapshot == LiveSnapshot())
        let isNoted = model.note(.finished(.done), of: stranger, in: "late", at: .zero)
        #expect(isNoted)
        #expect(model.snapshot.stages.map(\.done) == [1])
        #expect(model.openCount == 0)
    }

    @Test func finishedOperationsAndOldFailuresAreForgotten() {
        var model = LiveModel(keptFailures: 2)
        for id in 1...10_000 {
            let operation = OperationReference(id: UInt64(id), name: "o\(id)")
            _ = model.note(.started, of: operation, in: "s", at: .zero)
            _ = model.note(.finished(.failed("no")), of: operation, at: .zero)
        }
        #expect(model.openCount == 0)
        #expect(model.snapshot.failures.map(\.operation) == ["o9999", "o10000"])
        #expect(model.snapshot.whole.failed == 10_000)
    }

    @Test func stagesWithoutEndShareTheLast() {
        var model = LiveModel(keptFailures: 0)
        for id in 1...5000 {
            let operation = OperationReference(id: UInt64(id), name: "o\(id)")
            _ = model.note(.finished(.failed("no")), of: operation, in: "stage \(id)", at: .zero)
        }
        #expect(model.snapshot.stages.count == LiveModel.maxStages)
        #expect(model.snapshot.stages.last?.name == LiveModel.overflow)
        #expect(model.snapshot.stages.last?.failed == 5000 - LiveModel.maxStages + 1)
        #expect(model.snapshot.failures.isEmpty)
    }

    @Test("A failure that follows from another one is only counted if the other one is known")
    func dependentsAreCounted() {
        var life = Life()
        life.note(.finished(.failed("first")), 1)
        life.note(.finished(.failedAfter(1, "after the first")), 2, 3)
        life.note(.finished(.failedAfter(100, "after one elsewhere")), 4, 5)
        let snapshot = life.model.takeSnapshot()
        #expect(snapshot.newFailures.map(\.operation) == ["o1", "o4"])
        #expect(snapshot.newDependencyFailures == 3)
        #expect(snapshot.whole.failed == 5)
        #expect(snapshot.failures == snapshot.newFailures)
        #expect(life.model.takeSnapshot().newFailures.isEmpty)
    }

    @Test func eventsBecomeChanges() {
        #expect(LiveChange(.added(edges: [])) == .appeared)
        #expect(LiveChange(.started(attempt: 2)) == .started)
        #expect(LiveChange(.retrying(attempt: 1, error: .inputMissing, delay: .zero)) == .paused)
        #expect(LiveChange(.repeating(delay: .zero)) == .paused)
        #expect(LiveChange(.finished(.success, error: nil)) == .finished(.done))
        #expect(
            LiveChange(.finished(.failure, error: .callbackDropped))
                == .finished(.failed("\(OperationError.callbackDropped)")))
        #expect(LiveChange(.finished(.skipped, error: nil)) == .finished(.skipped))
        #expect(LiveChange(.progress(0.5)) == nil)
        let holder = OperationReference(id: 1, name: "holder")
        #expect(LiveChange(.excluded(by: holder, exclusion: "a\nb")) == .blocked(.exclusion("a b")))
        #expect(LiveChange(.waitingForRate("‘api’")) == .blocked(.rate("‘api’")))
        #expect(LiveChange(.granted) == .unblocked)
    }

    @Test func stagesAreThoseOfTraces() {
        #expect(LiveView.Options().stage(OperationReference(id: 1, name: "part-3")) == "part")
    }
}

struct Counts: Equatable {
    var waiting = 0
    var running = 0
    var done = 0
    var failed = 0
    var cancelled = 0
    var skipped = 0
}

/// A model that receives changes of the operations of one stage.
private struct Life {
    var model = LiveModel(keptFailures: 3)

    mutating func note(_ change: LiveChange, _ ids: UInt64...) {
        for id in ids {
            let operation = OperationReference(id: id, name: "o\(id)")
            _ = model.note(change, of: operation, in: "stage", at: .zero)
        }
    }

    /// The counts of the only stage, or nil if they differ from the total.
    var counts: Counts? {
        let snapshot = model.snapshot
        let counts = snapshot.stages.map(Counts.init)
        return counts == [Counts(snapshot.whole)] ? counts[0] : nil
    }
}

extension Counts {
    init(_ stage: LiveStage) {
        self.init(
            waiting: stage.waiting, running: stage.running, done: stage.done, failed: stage.failed,
            cancelled: stage.cancelled, skipped: stage.skipped)
    }
}

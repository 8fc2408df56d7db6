import BatonTesting
import Testing

@testable import Baton

/// The operations that `run`, `add(to:)`, groups and bodies add because a unique operation needs them.
@Suite(.timeLimit(.minutes(10))) struct UniqueUpstreamTests {
    private let stage = TestQueue()
    private let gate = Gate()

    private func original(_ key: String) -> AsyncOperation<Void> {
        let original = stage.waiting("original", at: gate).unique(by: key, policy: .join)
        stage.run(original)
        return original
    }

    @Test(arguments: [UniquenessPolicy.join, .reject], ["run", "add(to:)", "child", "group", "source"])
    func whatOnlyItWouldNeedIsNotAdded(policy: UniquenessPolicy, way: String) {
        let key = "\(#function) \(policy) \(way)"
        _ = original(key)
        let far = stage.noting("far")
        let near = stage.noting("near", after: far)
        let shared = stage.noting("shared")
        let late = stage.noting("late", after: near, shared).unique(by: key, policy: policy)
        let last = stage.noting("last", after: late, shared)
        switch way {
        case "run": stage.steps.task { [queue = stage.queue] in _ = try? await queue.run(last) }
        case "add(to:)": last.add(to: stage.queue, includingDependencies: true)
        case "child": stage.queue.add(AsyncOperation { context in try await context.run(last) })
        case "group": stage.queue.add(GroupOperation(last))
        default: stage.queue.add(AsyncOperation { context in try context.produce(last) })
        }
        stage.steps.runAll()
        gate.open()
        stage.steps.runAll()
        #expect(stage.ran == ["original", "shared", "last"])
        #expect(far.state == .created && near.state == .created)
        #expect(late.hasFinished)
        #expect(stage.queue.operationCount == 0)
        #expect(stage.misuseKinds == [])
    }

    @Test(arguments: UniquenessPolicy.allCases)
    func theFirstOfItsIdentityBringsWhatItNeeds(policy: UniquenessPolicy) {
        let near = stage.noting("near", after: stage.noting("far"))
        let first = stage.noting("first", after: near).unique(by: "\(#function) \(policy)", policy: policy)
        first.add(to: stage.queue, includingDependencies: true)
        stage.steps.runAll()
        #expect(stage.ran == ["far", "near", "first"])
        #expect(stage.queue.operationCount == 0)
    }

    @Test func aReplacementBringsWhatItNeeds() {
        let old = original(#function)
        let new = stage.noting("new", after: stage.noting("near")).unique(by: #function, policy: .replace)
        new.add(to: stage.queue, includingDependencies: true)
        stage.steps.runAll()
        #expect(stage.ran == ["original", "near"])
        #expect(old.isCancelled)
        gate.open()
        stage.steps.runAll()
        #expect(stage.ran == ["original", "near", "new"])
    }

    @Test("A replacement cancels what only the replaced operation has brought along, however it is connected")
    func replacementCancelsWhatNobodyNeeds() {
        let stage = TestQueue(isSuspended: true)
        let (far, shared) = (stage.noting("far"), stage.noting("shared"))
        let (left, right) = (stage.noting("left", after: far), stage.noting("right", after: far, shared))
        let own = stage.noting("own")
        let old = stage.noting("old", after: left, right, own).unique(by: #function, policy: .replace)
        stage.queue.add(own, stage.noting("other", after: shared))
        old.add(to: stage.queue, includingDependencies: true)
        stage.queue.add(stage.noting("new").unique(by: #function, policy: .replace))
        for operation in [old, left, right, far] {
            #expect(operation.ending == "cancelled because ‘new’ has replaced it", "\(operation)")
        }
        stage.queue.isSuspended = false
        stage.steps.runAll()
        #expect(Set(stage.ran) == ["own", "shared", "other", "new"])
    }

    @Test("A replacement keeps what it needs itself, also through operations that are not added yet", arguments: 0...2)
    func replacementKeepsWhatItNeeds(between count: Int) {
        let stage = TestQueue(isSuspended: true)
        let key = "\(#function) \(count)"
        let far = stage.noting("far")
        let near = stage.noting("near", after: far)
        let old = stage.noting("old", after: near).unique(by: key, policy: .replace)
        old.add(to: stage.queue, includingDependencies: true)
        var last = near
        for number in 0..<count { last = stage.noting("between \(number)", after: last) }
        let new = stage.noting("new", after: last).unique(by: key, policy: .replace)
        new.add(to: stage.queue, includingDependencies: true)
        #expect(old.isCancelled && !near.isCancelled && !far.isCancelled)
        stage.queue.isSuspended = false
        stage.steps.runAll()
        #expect(stage.ran == ["far", "near"] + (0..<count).map { "between \($0)" } + ["new"])
    }

    @Test func unfinishedDependenciesOfTheOriginalAreAdded() {
        let needed = stage.noting("needed")
        let original = stage.noting("original", after: needed).unique(by: #function, policy: .join)
        stage.run(original)
        stage.noting("joiner").unique(by: #function, policy: .join).add(
            to: stage.queue, includingDependencies: true)
        stage.steps.runAll()
        #expect(stage.ran == ["needed", "original"])
    }

    @Test func twoInOneGraphAreOne() {
        let log = stage.log
        func load(_ name: String) -> AsyncOperation<String> {
            AsyncOperation(name) {
                log(name)
                return name
            }.unique(by: #function, policy: .join)
        }
        let both = AsyncOperation(load("a"), load("b")) { log($0 + $1) }
        both.add(to: stage.queue)
        stage.steps.runAll()
        #expect(stage.ran == ["a", "aa"])
    }

    @Test func theOrderOfAGroupsChildrenDecidesWhateverTheirPolicies() {
        let first = stage.noting("first").unique(by: #function, policy: .replace)
        let second = stage.noting("second").unique(by: #function, policy: .join)
        stage.run(GroupOperation(first, second))
        #expect(stage.ran == ["first"])
        #expect(second.ending == "success")
    }

    @Test func theCallThatRunsOneThatWasAddedIsNoMisuseAndThatWhichAddsItIs() {
        let old = original(#function)
        stage.steps.task { [queue = stage.queue] in try? await queue.run(old) }
        stage.steps.runAll()
        #expect(stage.misuseKinds == [])
        old.add(to: stage.queue)
        #expect(stage.misuseKinds == [.addedTwice])
        gate.open()
        stage.steps.runAll()
    }

    @Test func theBodyIsToldOfAUniqueProduct() {
        let parent = AsyncOperation { [stage] context in
            try context.produce(stage.noting("product").unique(by: #function))
        }
        parent.didProduce { [log = stage.log] in log("did produce \($0.name!)") }
        stage.run(parent)
        #expect(Set(stage.ran) == ["product", "did produce product"])
    }

    @Test func aCancelledRunTakesBackWhatItAddedForAnOriginal() {
        let source = stage.waiting("source", at: gate)
        let original = stage.noting("original", after: source).unique(by: #function, policy: .join)
        let last = stage.noting("last", after: original)
        let task = stage.steps.task { [queue = stage.queue] in _ = try? await queue.run(last) }
        stage.steps.runAll()
        task.cancel()
        #expect(original.isCancelled && source.isCancelled)
        gate.open()
        stage.steps.runAll()
        #expect(stage.queue.operationCount == 0)
    }

    /// The operation has not finished yet, but needs no other operation any more.
    @Test func aCancelledRunTakesBackWhatItAddedAlsoWhenAWillFinishHandlerHoldsItUp() {
        let stage = TestQueue()
        let (gate, handler) = (Gate(), Gate())
        let source = AsyncOperation("source") { try await gate.waitUnlessCancelled() }
        let last = stage.noting("last", after: source).willFinish { _ in await handler.wait() }
        let run = stage.steps.task { _ = try? await stage.queue.run(last) }
        stage.steps.runAll()
        #expect(source.state == .executing)
        run.cancel()
        stage.steps.runAll()
        #expect(last.state == .finishing)
        #expect(source.isCancelled)
        handler.open()
        stage.steps.runAll()
    }
}

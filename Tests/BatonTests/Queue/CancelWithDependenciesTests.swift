import BatonTesting
import Testing

@testable import Baton

@Suite("A cancellation that includes dependencies ends operations that no other operation needs")
struct CancelWithDependenciesTests {
    private func suspended() -> TestQueue { TestQueue(width: 1, isSuspended: true) }

    /// Ends a group before it starts, because what it depends on is cancelled.
    private func end(_ group: GroupOperation, with first: AnyOperation) {
        let stage = TestQueue()
        first.cancel()
        stage.run(group)
        #expect(group.state == .finished && !group.isCancelled)
    }

    @Test("A whole chain is cancelled, and no operation outside it")
    func chain() {
        let stage = suspended()
        let shared = stage.noting("shared")
        let (first, second) = (stage.noting("first"), stage.noting("second", after: shared))
        let last = stage.noting("last", after: first, second)
        let other = stage.noting("other", after: shared)
        stage.queue.add([shared, first, second, last, other])
        last.cancel(reason: .because("enough"), includingDependencies: true)
        for operation in [first, second, last] {
            #expect(operation.ending == "cancelled because enough", "\(operation.ending)")
        }
        #expect(!shared.isCancelled && !other.isCancelled)
        stage.queue.isSuspended = false
        stage.steps.runAll()
        #expect(stage.ran == ["shared", "other"])
    }

    @Test("A plain cancellation leaves the dependencies alone")
    func without() {
        let stage = suspended()
        let first = stage.noting("first")
        let last = stage.noting("last", after: first)
        stage.queue.add(first, last)
        last.cancel(includingDependencies: false)
        #expect(last.isCancelled && !first.isCancelled)
    }

    @Test("A dependency that a task awaits stays, and so does everything that it needs")
    func awaited() async throws {
        let stage = suspended()
        let first = stage.noting("first")
        let second = stage.noting("second", after: first)
        let last = stage.noting("last", after: second)
        stage.queue.add(first, second, last)
        let began = Gate()
        let waiting = Task {
            began.open()
            try await second.value
        }
        await began.wait()
        while second.withLifecycle({ $0.optionalState?.waiters.isEmpty != false }) { await Task.yield() }
        last.cancel(includingDependencies: true)
        #expect(last.isCancelled && !second.isCancelled && !first.isCancelled)
        stage.queue.isSuspended = false
        stage.steps.runAll()
        try await waiting.value
    }

    @Test("A cancellation handles operations that were not added, a diamond, a cycle, and a group that others need")
    func shapes() {
        let stage = suspended()
        let top = stage.noting("top")
        let (left, right) = (stage.noting("left", after: top), stage.noting("right", after: top))
        let bottom = stage.noting("bottom", after: left, right)
        bottom.cancel(includingDependencies: true)
        #expect([top, left, right].allSatisfy { $0.isCancelled })

        let (one, two) = (stage.noting("one"), stage.noting("two"))
        one.addDependency(two)
        two.addDependency(one)
        one.cancel(includingDependencies: true)
        #expect(one.isCancelled && two.isCancelled)

        let child = stage.noting("child")
        let group = GroupOperation("group", child)
        let (reader, another) = (stage.noting("reader", after: group), stage.noting("another", after: group))
        stage.queue.add(group, reader, another)
        reader.cancel(includingDependencies: true)
        #expect(!group.isCancelled && !child.isCancelled)
        another.cancel(includingDependencies: true)
        #expect(group.isCancelled && child.isCancelled)
    }

    @Test("A child that its group has not started yet is needed", arguments: [false, true])
    func plannedChild(isAddedBefore: Bool) {
        let stage = suspended()
        let child = AsyncOperation("child") { 1 }
        if isAddedBefore { stage.queue.add(child) }
        let first = stage.noting("first")
        // A child that is given twice is in the group once.
        let unstarted = GroupOperation("unstarted", child, child).addDependency(first, on: .success)
        let group = GroupOperation("group", child)
        let (reader, second) = (child.then("reader") { $0 }, child.then("second") { $0 })
        stage.queue.add(group, reader)
        reader.cancel(includingDependencies: true)
        #expect(reader.isCancelled && !child.isCancelled)
        second.add(to: stage.queue, includingDependencies: true)
        end(unstarted, with: first)
        second.cancel(includingDependencies: true)
        #expect(second.isCancelled && !child.isCancelled, "The other group needs it.")
        stage.queue.isSuspended = false
        stage.steps.runAll()
        #expect(child.ending == "success" && group.ending == "success")
    }

    @Test("A child of groups that will never start is needed like any other operation")
    func childOfUnstartedGroups() {
        let stage = suspended()
        let child = AsyncOperation("child") { 1 }
        let first = stage.noting("first")
        let (reader, second) = (child.then("reader") { $0 }, child.then("second") { $0 })
        stage.queue.add(child, reader)
        do {
            let unstarted = GroupOperation("unstarted", child, child).addDependency(first, on: .success)
            let forgotten = GroupOperation("forgotten", child, child)
            end(unstarted, with: first)
            #expect(forgotten.state == .created)
        }
        stage.queue.add(second)
        second.cancel(includingDependencies: true)
        #expect(!child.isCancelled, "The reader needs it.")
        reader.cancel(includingDependencies: true)
        #expect(child.isCancelled)
        stage.queue.cancelAll()
    }

    @Test("The original of a joined operation is no dependency", arguments: [false, true])
    func joined(byReader: Bool) {
        let stage = suspended()
        let key = Names()("upload")
        let upload = AsyncOperation("upload") { 1 }.unique(by: key, policy: .join)
        let again = AsyncOperation("again") { 2 }.unique(by: key, policy: .join)
        let reader = again.then("reader") { $0 }
        stage.queue.add(upload, again, reader)
        (byReader ? reader : again).cancel(includingDependencies: true)
        #expect(again.isCancelled && !upload.isCancelled)
        stage.queue.isSuspended = false
        stage.steps.runAll()
        #expect(upload.ending == "success")
    }

    @Test("Running dependencies are cancelled, too")
    func running() {
        let stage = TestQueue(width: 1)
        let source = AsyncOperation("source") { [clock = stage.clock] in try await clock.sleep(for: .seconds(100)) }
        let reader = stage.noting("reader", after: source)
        stage.run(source, reader)
        #expect(source.state == .executing)
        reader.cancel(includingDependencies: true)
        stage.steps.runAll()
        #expect(source.ending == "cancelled on request", "\(source.ending)")
    }

    @Test("An operation that replaces another cancels the other's inputs, and not those that it needs itself")
    func replaced() {
        let stage = suspended()
        let key = Names()("search")
        let token = stage.noting("token")
        let own = stage.noting("own")
        stage.queue.add(own)
        func search(_ name: String) -> (page: AsyncOperation<Int>, search: AsyncOperation<Int>) {
            let page = AsyncOperation("page \(name)") { 1 }.addDependency(token)
            let search = page.then("search \(name)") { $0 }.addDependency(own).unique(by: key, policy: .replace)
            return (page, search)
        }
        let (first, second) = (search("a"), search("ab"))
        first.search.add(to: stage.queue, includingDependencies: true)
        second.search.add(to: stage.queue, includingDependencies: true)
        #expect(first.search.isCancelled && first.page.isCancelled)
        #expect(!token.isCancelled && !own.isCancelled && !second.page.isCancelled)
        let third = AsyncOperation("third") { 1 }.unique(by: key, policy: .replace)
        stage.queue.add(third)
        // No other operation needs the token now, and it was brought along. The other source was added by itself.
        #expect(second.page.isCancelled && token.isCancelled && !own.isCancelled)
        stage.queue.isSuspended = false
        stage.steps.runAll()
        #expect(third.ending == "success")
        #expect(stage.ran == ["own"])
        #expect(stage.misuses.count == 0)
    }

    @Test("The time for a chain is linear", arguments: [20_000])
    func growth(count: Int) {
        let stage = suspended()
        var last = stage.noting("0")
        var all = [last]
        for number in 1..<count {
            last = stage.noting("\(number)", after: last)
            all.append(last)
        }
        stage.queue.add(all)
        last.cancel(includingDependencies: true)
        #expect(all.allSatisfy { $0.isCancelled })
    }
}

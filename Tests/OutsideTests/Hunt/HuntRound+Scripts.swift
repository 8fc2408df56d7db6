import Baton
import BatonTesting

/// Runs the scripts of a program.
extension HuntRound {
    /// Runs all scripts, and returns when everything has finished.
    func play() async {
        rate.begin()
        await withTaskGroup(of: Void.self) { group in
            for script in program.scripts { group.addTask { await self.play(script) } }
            group.addTask {
                await self.finishedScripts.waitForCount(self.program.scripts.count)
                // Other operations may depend on those that cancelled runs have not added.
                for node in self.program.nodes where self.operation(node.id)?.state == .created { self.add([node.id]) }
                for index in self.program.queues.indices {
                    self.queue(index).isSuspended = false
                    self.queue(index).maxWaitingOperationCount = .max
                }
            }
        }
        await idle()
        await finish()
    }

    func idle() async {
        for _ in 0..<2 { for index in program.queues.indices { await queue(index).waitUntilIdle() } }
    }

    /// Adds inputs to their own queues, because an add would bring them along to the wrong queue.
    func addInputsToTheirQueues(of ids: [Int]) {
        if program.queues.count == 1 { return }
        var needed: Set<Int> = []
        var frontier = ids
        while let id = frontier.popLast() {
            frontier += program.nodes[id].dependencies.filter { needed.insert($0).inserted }
        }
        for id in needed.sorted() {
            guard let operation = operation(id) else { continue }
            queue(program.nodes[id].queue).add(companions(id) + [operation])
        }
    }

    func add(_ ids: [Int]) {
        tagged(ids) { addTagged(ids) }
    }

    private func addTagged(_ ids: [Int]) {
        addInputsToTheirQueues(of: ids)
        var groups: [Int: [AnyOperation]] = [:]
        for id in ids {
            guard let operation = operation(id) else { continue }
            groups[program.nodes[id].queue, default: []] += companions(id) + [operation]
        }
        for (index, operations) in groups { queue(index).add(operations) }
    }

    func companions(_ id: Int) -> [AnyOperation] { companions.withLock { $0.removeValue(forKey: id) ?? [] } }

    func run(_ id: Int) async {
        guard let operation = operation(id) else { return }
        let queue = queue(program.nodes[id].queue)
        await tagged([id]) {
            queue.add(companions(id))
            if let operation = operation as? AsyncOperation<Output> {
                _ = try? await queue.run(operation)
            } else if let operation = operation as? AsyncOperation<Void> {
                try? await queue.run(operation)
            }
        }
    }

    func play(_ actions: [HuntProgram.Action]) async {
        await withTaskGroup(of: Void.self) { group in
            for action in actions {
                switch action {
                case .add(let ids): add(ids)
                case .addTo(let id):
                    tagged([id]) {
                        _ = operation(id)?.add(to: queue(program.nodes[id].queue), includingDependencies: true)
                    }
                case .barrier(let id):
                    let queue = queue(program.nodes[id].queue)
                    tagged([id]) {
                        addInputsToTheirQueues(of: [id])
                        queue.add(companions(id))
                        if let operation = operation(id) { queue.addBarrier(operation) }
                    }
                case .submit(let ids):
                    group.addTask {
                        for id in ids {
                            let queue = self.queue(self.program.nodes[id].queue)
                            await self.tagged([id]) {
                                self.addInputsToTheirQueues(of: [id])
                                queue.add(self.companions(id))
                                guard let operation = self.operation(id) else { return }
                                try? await queue.submit(operation)
                            }
                        }
                    }
                case .run(let id): group.addTask { await self.run(id) }
                case .cancelledRun(let id):
                    let task = Task { await self.run(id) }
                    group.addTask {
                        await Task.yield()
                        task.cancel()
                        await task.value
                    }
                case .cancel(let id): operation(id)?.cancel()
                case .cancelAll(let index): queue(index).cancelAll()
                case .suspend(let index): queue(index).isSuspended = true
                case .resume(let index): queue(index).isSuspended = false
                case .width(let index, let width):
                    counts.widen(index, to: width)
                    queue(index).maxConcurrentOperationCount = width
                case .shutdown(let index, let milliseconds):
                    group.addTask { await self.queue(index).shutdown(within: .milliseconds(milliseconds)) }
                case .ask(let index):
                    _ = queue(index).snapshot()
                    for operation in queue(index).operations.prefix(5) { _ = operation.explain().description }
                case .yield(let count): for _ in 0..<count { await Task.yield() }
                }
            }
            finishedScripts(())
        }
    }
}

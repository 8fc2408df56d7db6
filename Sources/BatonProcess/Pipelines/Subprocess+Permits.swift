internal import Baton

extension Subprocess {
    /// The queue of the operations that bodies wait for.
    private static let waiting = AsyncOperationQueue.serving(name: "programs that wait for others")

    /// Waits, without a permit of the queue, until every program of the pipeline has been started or given up.
    ///
    /// If the body kept its permit, a queue narrower than the pipeline would have none left for the other programs. The
    /// body waits for all pipes and not only for those next to it, because its input may depend on a program further
    /// away. To be called on the body's own task.
    static func releasePermit(until pipes: [ProgramPipe], in waits: WaitScope) async {
        let wakeups = pipes.compactMap { $0.connection() }
        if wakeups.isEmpty { return }
        let connected = AsyncOperation<Void>("connection") {
            for wakeup in wakeups {
                // The program may end before the pipe is connected.
                if waits.add(wakeup) { _ = await wakeup.wait() }
                waits.remove(wakeup)
            }
        }
        waiting.add(connected)
        _ = try? await connected.value
    }
}

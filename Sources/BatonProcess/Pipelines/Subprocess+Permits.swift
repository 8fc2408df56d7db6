internal import Baton

extension Subprocess {
    /// For the waits of bodies.
    private static let waiting = AsyncOperationQueue.serving(name: "programs that wait for others")

    /// While programs of its pipeline are still to be started, the body of one holds no permit of its queue: else, in a
    /// queue narrower than the pipeline, it would keep the permit that those need. Its neighbours are not enough: it
    /// may wait for what comes from further away. To be called on the body's own task.
    static func releasePermit(until pipes: [ProgramPipe], in waits: WaitScope) async {
        let wakeups = pipes.compactMap { $0.connection() }
        if wakeups.isEmpty { return }
        let connected = AsyncOperation<Void>("connection") {
            for wakeup in wakeups {
                // It may end without ever having been connected.
                if waits.enter(wakeup) { _ = await wakeup.wait() }
                waits.leave(wakeup)
            }
        }
        waiting.add(connected)
        _ = try? await connected.value
    }
}

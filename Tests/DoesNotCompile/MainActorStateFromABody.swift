// expect: main actor-isolated property 'text' can not be mutated from a Sendable closure
// A body runs on the queue, and so cannot touch what belongs to the main actor without going there.
import Baton

@MainActor final class Screen {
    var text = ""
}

func plan(_ screen: Screen) -> AsyncOperation<Void> {
    AsyncOperation { screen.text = "done" }
}

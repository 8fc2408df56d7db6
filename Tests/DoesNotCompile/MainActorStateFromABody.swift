// expect: main actor-isolated property 'text' can not be mutated from a Sendable closure
// A body runs on the queue, so it cannot access main-actor state without switching to the main actor.
import Baton

@MainActor final class Screen {
    var text = ""
}

func plan(_ screen: Screen) -> AsyncOperation<Void> {
    AsyncOperation { screen.text = "done" }
}

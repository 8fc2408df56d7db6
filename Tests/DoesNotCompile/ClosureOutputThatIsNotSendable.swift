// expect: type 'Page' does not conform to the 'Sendable' protocol
// Of a closure, too.
import Baton

final class Page {
    var text = ""
}

func plan() -> AnyOperation {
    AsyncOperation { () async throws -> Page in Page() }
}

// expect: type 'Page' does not conform to the 'Sendable' protocol
// The output of a closure has to be Sendable, like that of a procedure.
import Baton

final class Page {
    var text = ""
}

func plan() -> AnyOperation {
    AsyncOperation { () async throws -> Page in Page() }
}

// expect: capture of 'page' with non-Sendable type 'Page'
// Nor can a closure capture it.
import Baton

final class Page {
    var text = ""
}

func plan(_ page: Page) -> AsyncOperation<Int> {
    AsyncOperation { page.text.count }
}

// expect: capture of 'page' with non-Sendable type 'Page'
// A closure cannot capture a value that is not Sendable.
import Baton

final class Page {
    var text = ""
}

func plan(_ page: Page) -> AsyncOperation<Int> {
    AsyncOperation { page.text.count }
}

// expect: cannot inherit from non-open class 'AsyncOperation<String>' outside of its defining module
// Operations cannot be subclassed; their work is a procedure or a closure.
import Baton

final class Fetch: AsyncOperation<String>, @unchecked Sendable {}

// expect: cannot inherit from non-open class 'AsyncOperation<String>' outside of its defining module
// Operations are not subclassed: what to do is a procedure.
import Baton

final class Fetch: AsyncOperation<String>, @unchecked Sendable {}

// expect: type 'OperationError' has no member 'notFound'
// The error of an outcome is an OperationError, which has no such case.
import Baton

func show(_ operation: AsyncOperation<Int>) async -> String {
    do {
        return "\(try await operation.value)"
    } catch .notFound {
        return "nothing there"
    } catch {
        return "\(error)"
    }
}

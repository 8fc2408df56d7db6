// expect: cannot convert value of type 'OperationError' to expected argument type 'NoPaper'
// What is caught is an OperationError, and nothing else: the body's own error is in it.
import Baton

struct NoPaper: Error {}

func complain(_ error: NoPaper) {}

func show(_ operation: AsyncOperation<Int>) async {
    do {
        print(try await operation.value)
    } catch {
        complain(error)
    }
}

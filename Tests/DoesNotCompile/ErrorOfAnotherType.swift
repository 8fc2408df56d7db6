// expect: cannot convert value of type 'OperationError' to expected argument type 'NoPaper'
// The caught error is always an OperationError, which contains the error of the body.
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

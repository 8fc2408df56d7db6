// expect: cannot convert value of type '@Sendable (Result<String, OperationError>) -> ()'
// A handler receives the outcome of its operation, with the type of its output.
import Baton

func watch(_ operation: AsyncOperation<Int>) {
    operation.didFinish { (result: Result<String, OperationError>) in print(result) }
}

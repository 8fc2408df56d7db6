// expect: cannot convert value of type '@Sendable (Result<String, OperationError>) -> ()'
// A handler gets the outcome of its operation.
import Baton

func watch(_ operation: AsyncOperation<Int>) {
    operation.didFinish { (result: Result<String, OperationError>) in print(result) }
}

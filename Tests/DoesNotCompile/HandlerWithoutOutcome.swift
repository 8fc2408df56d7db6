// expect: value of type 'AnyOperation' has no member 'didFinish'
// An operation whose output type has been erased has no typed outcome.
import Baton

func watch(_ operation: AnyOperation) {
    operation.didFinish { result in print(result) }
}

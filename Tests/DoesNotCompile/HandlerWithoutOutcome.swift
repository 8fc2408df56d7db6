// expect: value of type 'AnyOperation' has no member 'didFinish'
// Of an operation whose type was forgotten there is no typed outcome to get.
import Baton

func watch(_ operation: AnyOperation) {
    operation.didFinish { result in print(result) }
}

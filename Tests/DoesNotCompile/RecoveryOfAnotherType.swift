// expect: cannot convert value of type 'String' to closure result type 'Int'
// The replacement for a missing output has the type of the output.
import Baton

func replace(_ number: AsyncOperation<Int>) -> AsyncOperation<Int> {
    number.recover { _ in "none" }
}

// expect: cannot convert value of type 'AsyncOperation<Int>' to expected element type 'AsyncOperation<String>'
// All collected operations have the same output type.
import Baton

func connect(_ text: AsyncOperation<String>, _ number: AsyncOperation<Int>) -> AsyncOperation<[String]> {
    AsyncOperation.collect([text, number])
}

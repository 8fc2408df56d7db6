// expect: value of type 'AsyncOperation<Int>' has no member 'input'
// An input cannot be set or changed after the operation was made.
import Baton

func connect(_ reader: AsyncOperation<Int>, to source: AsyncOperation<Int>) {
    reader.input = source
}

// expect: value of type 'AsyncOperation<Int>' has no member 'input'
// Nor can it be given, or changed, afterwards.
import Baton

func connect(_ reader: AsyncOperation<Int>, to source: AsyncOperation<Int>) {
    reader.input = source
}

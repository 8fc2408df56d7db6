// expect: instance method 'unwrapped(file:line:)' requires the types 'String' and 'String?' be equivalent
// Only an optional output can be unwrapped.
import Baton

func connect(_ text: AsyncOperation<String>) -> AsyncOperation<String> {
    text.unwrapped()
}

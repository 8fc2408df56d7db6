// expect: instance member 'delay' cannot be used on type 'AsyncOperation<Int>'
// A delay passes on the value of the operation before it, so it cannot be made without one.
import Baton

func plan() -> AsyncOperation<Int> {
    AsyncOperation<Int>.delay(.seconds(5))
}

// expect: instance member 'delay' cannot be used on type 'AsyncOperation<Int>'
// A delay passes on the value of what comes before it; alone it has none.
import Baton

func plan() -> AsyncOperation<Int> {
    AsyncOperation<Int>.delay(.seconds(5))
}

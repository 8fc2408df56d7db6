// expect: mutation of captured var 'count' in concurrently-executing code
// A body cannot write to variables of the code that made it; it returns its output instead.
import Baton

func plan() -> Int {
    var count = 0
    let operation = AsyncOperation { count += 1 }
    _ = operation
    return count
}

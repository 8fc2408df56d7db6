// expect: mutation of captured var 'count' in concurrently-executing code
// A body does not write to variables of whoever made it: it returns its output.
import Baton

func plan() -> Int {
    var count = 0
    let operation = AsyncOperation { count += 1 }
    _ = operation
    return count
}

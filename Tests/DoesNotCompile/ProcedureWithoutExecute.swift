// expect: type 'Idle' does not conform to protocol 'Procedure'
// What to do has to be said.
import Baton

struct Idle: Procedure {
    typealias Output = Int
}

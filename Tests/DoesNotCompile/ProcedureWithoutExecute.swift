// expect: type 'Idle' does not conform to protocol 'Procedure'
// A procedure has to implement `execute(in:)`.
import Baton

struct Idle: Procedure {
    typealias Output = Int
}

/// What it means when a program of a pipeline fails because the program that reads from it has ended.
///
/// In `yes | head` the first program is ended when the second has had enough. Most programs are ended by the signal
/// `SIGPIPE`; a shell that ran such a program exits with 141; programs that ignore the signal write a message and exit
/// with a status of their own, as those in Python do.
@nonexhaustive
public enum BrokenPipe: Sendable, Hashable {
    /// To be ended by `SIGPIPE`, and the exit status 141, are a success. Every other status is what it is elsewhere.
    case success
    /// Every end is a success if the program that reads had ended, or had closed its input, before this one ended. To
    /// know that, the other program sees the end of its input only when this one has ended, even if this one closes its
    /// output earlier.
    case successWithAnyStatus
    /// It is a failure, as every signal is, and every exit status that is not ``Subprocess/accepted``.
    case failure
}

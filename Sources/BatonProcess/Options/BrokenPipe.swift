/// The way to treat a program of a pipeline that fails because the program that reads from it has ended.
///
/// In `yes | head` the first program is ended when the second has read enough. The signal `SIGPIPE` ends most programs.
/// A shell that ran such a program exits with 141. Programs that ignore the signal, as those in Python do, write a
/// message and exit with a status of their own.
@nonexhaustive
public enum BrokenPipe: Sendable, Hashable {
    /// Termination by `SIGPIPE` and the exit status 141 count as a success. Any other status is treated as it is
    /// outside a pipeline.
    case success
    /// Any termination counts as a success if the reading program had ended, or had closed its input, before this
    /// program ended.
    ///
    /// To find that out, the package keeps the pipe open until this program has ended. The reading program therefore
    /// sees the end of its input only then, even if this program closes its output earlier.
    case successWithAnyStatus
    /// A broken pipe is a failure, like any signal and any exit status that is not in ``Subprocess/accepted``.
    case failure
}

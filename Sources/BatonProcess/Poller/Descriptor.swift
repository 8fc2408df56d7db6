internal import CBatonProcess
internal import Synchronization

/// An open file descriptor. It is closed once: by ``close()``, or when the last reference is released.
final class Descriptor: Sendable {
    let number: Int32
    private let isClosed = Atomic(false)

    init(_ number: Int32) { self.number = number }

    deinit { close() }

    func close() {
        if !isClosed.exchange(true, ordering: .acquiringAndReleasing) { baton_close(number) }
    }

    /// True if this is the writing end of a pipe whose reading end is no longer open anywhere.
    var hasNoReader: Bool { baton_has_no_reader(number) != 0 }

    /// Makes the descriptor non-blocking. Used for the pipe ends that this process keeps, so that no thread blocks.
    func makeNonBlocking() throws(SystemFailure) { try SystemFailure.check(baton_set_nonblocking(number)) }

    /// Returns the descriptor that `open` stores. `open` returns an `errno`, or 0.
    static func opened(by open: (UnsafeMutablePointer<Int32>) -> Int32) throws(SystemFailure) -> Descriptor {
        var number: Int32 = -1
        try SystemFailure.check(open(&number))
        return Descriptor(number)
    }
}

/// The two ends of a new pipe.
struct PipeEnds: Sendable {
    let reading: Descriptor
    let writing: Descriptor

    init() throws(SystemFailure) {
        var ends: (Int32, Int32) = (-1, -1)
        try SystemFailure.check(baton_make_pipe(&ends.0, &ends.1))
        reading = Descriptor(ends.0)
        writing = Descriptor(ends.1)
    }
}

extension SystemFailure {
    static let notThere = SystemFailure(code: baton_ENOENT)
    static let notInADirectory = SystemFailure(code: baton_ENOTDIR)
    static let noSuchProcess = SystemFailure(code: baton_ESRCH)
    static let isDirectory = SystemFailure(code: baton_EISDIR)

    static func check(_ code: Int32) throws(SystemFailure) {
        if code != 0 { throw SystemFailure(code: code) }
    }
}

internal import Synchronization

/// Counts the changes of dependencies and of children of groups in the process, so that a reader can cache what it has
/// found in a graph. Counting begins with the first read.
package enum GraphChanges {
    private static let hasReader = Atomic<Bool>(false)
    private static let number = Atomic<UInt64>(0)

    /// The number of changes so far. Read it before looking at the graph.
    package static var count: UInt64 {
        hasReader.store(true, ordering: .relaxed)
        return number.load(ordering: .acquiring)
    }

    /// Counts a change; call this after the change. A reader sets `hasReader` and then reads the graph under the
    /// operation's lock. If the reader misses the change, it took that lock before the thread that made the change did,
    /// so the relaxed load finds `hasReader` set, and the reader later finds another count.
    @inline(__always)
    static func note() { if hasReader.load(ordering: .relaxed) { number.add(1, ordering: .releasing) } }
}

import Synchronization

/// Finds the queue of an operation that has finished and therefore no longer points to it: for handlers that are added
/// late and for reports of misuse.
enum QueueDirectory {
    private struct Entry: Sendable {
        weak let core: QueueCore?
    }

    private static let lastNumber = Atomic<UInt32>(0)
    private static let entries = Locked<[UInt32: Entry]>([:])

    static func nextNumber() -> UInt32 { lastNumber.wrappingAdd(1, ordering: .relaxed).newValue }

    static func enter(_ core: QueueCore) { entries.withLock { $0[core.number] = Entry(core: core) } }

    static func leave(_ number: UInt32) { entries.withLock { _ = $0.removeValue(forKey: number) } }

    static var all: [QueueCore] {
        entries.withLock { Array($0.values) }.compactMap(\.core).sorted { $0.number < $1.number }
    }

    static func find(_ number: UInt32) -> QueueCore? { entries.withLock { $0[number]?.core } }
}

import Synchronization

/// Finds a queue by its number. An operation that has finished no longer points to its queue, but handlers that are
/// added late and reports of misuse still need it.
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

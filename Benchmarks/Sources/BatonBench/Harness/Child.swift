import Foundation

/// A measurement in a process of its own, so that nothing that was measured before has left it threads or a torn heap.
enum Child {
    private static let flag = "--child"

    /// Huge pages, and none given back before the end. Otherwise glibc asks for memory page by page and gives it back,
    /// or does not, as chance will have it, which doubles the time of whatever allocates 100,000 objects, in one
    /// process and not in the next.
    private static let steadyHeap = [
        "GLIBC_TUNABLES": "glibc.malloc.hugetlb=1:glibc.malloc.trim_threshold=\(1 << 40)"
    ]

    /// Starts this program again with hidden arguments and returns what it prints; nil if it crashed.
    static func run(_ workload: Workload, count: Int, _ arguments: [String]) -> Data? {
        let process = Process()
        process.executableURL = Bundle.main.executableURL
        process.arguments = [flag, workload.rawValue, "\(count)"] + arguments
        if workload != .memory {
            process.environment = ProcessInfo.processInfo.environment.merging(steadyHeap) { $1 }
        }
        let output = Pipe()
        process.standardOutput = output
        do { try process.run() } catch { return nil }
        let data = output.fileHandleForReading.readDataToEndOfFile()
        process.waitUntilExit()
        guard process.terminationReason == .exit, process.terminationStatus == 0 else { return nil }
        return data
    }

    /// The same, of one that prints a number.
    static func number(_ workload: Workload, count: Int, _ argument: String) -> Double? {
        run(workload, count: count, [argument]).flatMap {
            Double(String(decoding: $0, as: UTF8.self).trimmingCharacters(in: .whitespacesAndNewlines))
        }
    }

    /// In the child: does what the hidden arguments say and prints what was measured. False in a process that is no
    /// child.
    static func main(_ arguments: [String]) throws -> Bool {
        guard arguments.count > 3, arguments[1] == flag, let workload = Workload(rawValue: arguments[2]),
            let count = Int(arguments[3])
        else { return false }
        let rest = Array(arguments.dropFirst(4))
        switch workload {
        case .memory: print(MemoryUse.measure(rest[0], count: count))
        case .release: print(Release.measure(rest[0], count: count))
        default:
            let rounds = Rounds(workload, count: count, Plan(options: try Options(rest)))
            say(String(decoding: try JSONEncoder().encode(rounds.run()), as: UTF8.self))
        }
        return true
    }
}

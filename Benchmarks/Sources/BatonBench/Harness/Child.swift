import Foundation

/// Runs a measurement in a process of its own, so that earlier measurements leave it no threads and no fragmented heap.
enum Child {
    private static let flag = "--child"

    /// Settings that make glibc use huge pages and return none before the end. Otherwise glibc requests memory page by
    /// page and returns it unpredictably, which doubles the time of allocating 100,000 objects in one process but not
    /// in the next.
    private static let steadyHeap = [
        "GLIBC_TUNABLES": "glibc.malloc.hugetlb=1:glibc.malloc.trim_threshold=\(1 << 40)"
    ]

    /// Starts this program again with hidden arguments, and returns its output, or nil if it crashed.
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

    /// Starts this program again, and returns the number that it prints, or nil if it crashed.
    static func number(_ workload: Workload, count: Int, _ argument: String) -> Double? {
        run(workload, count: count, [argument]).flatMap {
            Double(String(decoding: $0, as: UTF8.self).trimmingCharacters(in: .whitespacesAndNewlines))
        }
    }

    /// In a child process, runs the measurement that the hidden arguments specify, and prints the result. Returns false
    /// in any other process.
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

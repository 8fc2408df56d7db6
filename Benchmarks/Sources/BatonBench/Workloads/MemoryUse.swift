import Foundation

/// Measures the growth of the peak resident memory of a process, per operation.
enum MemoryUse {
    /// The graphs with which memory is measured: independent operations for all contestants, and a value chain for
    /// Baton.
    static let workloads: [Workload] = [.independent, .values]

    static func contestants(_ workload: Workload, _ all: [any Contestant]) -> [any Contestant] {
        workload == .independent ? all : all.filter { $0.name == BatonContestant.name }
    }

    /// Called in the parent process. Returns bytes per operation.
    static func run(_ workload: Workload, _ contestant: any Contestant, count: Int) -> Double? {
        Child.number(.memory, count: count, "\(workload.rawValue):\(contestant.name)")
    }

    /// Called in the child process. `what` names the workload and the contestant.
    static func measure(_ what: String, count: Int) -> Double {
        let parts = what.split(separator: ":").map(String.init)
        let workload = Workload(rawValue: parts[0])!
        let contestant = allContestants.first { $0.name == parts[1] }!
        let job = Job(workload, count: count)
        // This run starts the threads, so that their stacks are not measured.
        _ = contestant.run(Job(workload, count: 100))
        resetPeak()
        let before = residentBytes()
        _ = contestant.run(job)
        return Double(peakBytes() - before) / Double(count)
    }

    #if os(Linux)
        private static func resetPeak() {
            try? Data("5".utf8).write(to: URL(fileURLWithPath: "/proc/self/clear_refs"))
        }

        private static func residentBytes() -> Int { status("VmRSS:") }
        private static func peakBytes() -> Int { status("VmHWM:") }

        private static func status(_ key: String) -> Int {
            let text = (try? String(contentsOfFile: "/proc/self/status", encoding: .utf8)) ?? ""
            let line = text.split(separator: "\n").first { $0.hasPrefix(key) } ?? ""
            return (Int(line.filter(\.isNumber)) ?? 0) * 1024
        }
    #else
        /// The peak cannot be reset on this platform, so the growth of the peak since the start is measured.
        private static func resetPeak() {}
        private static func residentBytes() -> Int { peakBytes() }

        private static func peakBytes() -> Int {
            var usage = rusage()
            getrusage(RUSAGE_SELF, &usage)
            return Int(usage.ru_maxrss)
        }
    #endif
}

import Foundation

/// The machine on which the numbers were measured.
struct Machine: Codable {
    let cpu: String
    let cores: Int
    let os: String
    let swift: String
    /// The number of cores that other processes kept busy right before the run.
    let load: Double

    init() {
        cpu = Self.field("/proc/cpuinfo", "model name", ":") ?? Self.output("sysctl", "-n", "machdep.cpu.brand_string")
        cores = ProcessInfo.processInfo.activeProcessorCount
        os = Self.field("/etc/os-release", "PRETTY_NAME", "=") ?? ProcessInfo.processInfo.operatingSystemVersionString
        swift = Self.output("swift", "--version")
        load = (Self.coresInUse() * 100).rounded() / 100
    }

    var text: String {
        let busy = load > 0.5 ? "\nbusy: others use \(load.short) of its cores, do not trust these numbers" : ""
        return "\(cpu), \(cores) cores, \(os), \(swift)\(busy)"
    }

    /// Measures for one second. The load average would include the preceding build, so it is used only where nothing
    /// better is available.
    private static func coresInUse() -> Double {
        guard let before = busySeconds() else {
            var loads = [0.0]
            return getloadavg(&loads, 1) == 1 ? loads[0] : 0
        }
        let stopwatch = Stopwatch()
        Thread.sleep(forTimeInterval: 1)
        return busySeconds().map { ($0 - before) / stopwatch.nanoseconds * 1e9 } ?? 0
    }

    /// Returns the busy time of all cores since the machine was started: the times in the first line of `/proc/stat`,
    /// in hundredths of a second, without idle and I/O wait. It includes the time that a hypervisor has given to other
    /// machines.
    private static func busySeconds() -> Double? {
        guard let text = try? String(contentsOfFile: "/proc/stat", encoding: .utf8) else { return nil }
        let line = text.prefix { $0 != "\n" }
        let counts = line.split(separator: " ").dropFirst().compactMap { Double($0) }
        // The columns are user, nice, system, idle, iowait, irq, softirq and steal; the following ones are included in
        // the first two.
        return counts.count < 8 ? nil : (counts[0...2] + counts[5...7]).reduce(0, +) / 100
    }

    private static func field(_ file: String, _ key: String, _ separator: Character) -> String? {
        guard let text = try? String(contentsOfFile: file, encoding: .utf8) else { return nil }
        let line = text.split(separator: "\n").first { $0.hasPrefix(key) }
        let value = line?.split(separator: separator, maxSplits: 1).last
        return value?.trimmingCharacters(in: CharacterSet(charactersIn: " \t\""))
    }

    private static func output(_ command: String...) -> String {
        let process = Process()
        process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
        process.arguments = command
        let output = Pipe()
        process.standardOutput = output
        process.standardError = FileHandle.nullDevice
        do { try process.run() } catch { return "unknown" }
        let text = String(decoding: output.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
        process.waitUntilExit()
        return text.split(separator: "\n").first.map(String.init) ?? "unknown"
    }
}

import Foundation

/// What the numbers were measured on.
struct Machine: Codable {
    let cpu: String
    let cores: Int
    let os: String
    let swift: String
    /// How many others wanted its cores in the minute before the run began.
    let load: Double

    init() {
        cpu = Self.field("/proc/cpuinfo", "model name", ":") ?? Self.output("sysctl", "-n", "machdep.cpu.brand_string")
        cores = ProcessInfo.processInfo.activeProcessorCount
        os = Self.field("/etc/os-release", "PRETTY_NAME", "=") ?? ProcessInfo.processInfo.operatingSystemVersionString
        swift = Self.output("swift", "--version")
        var loads = [0.0]
        load = getloadavg(&loads, 1) == 1 ? (loads[0] * 100).rounded() / 100 : 0
    }

    var text: String {
        let busy = load > 0.5 ? "\nbusy: load average \(load.short) at the start, do not trust these numbers" : ""
        return "\(cpu), \(cores) cores, \(os), \(swift)\(busy)"
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

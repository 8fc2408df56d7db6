import Foundation

/// A measurement in a process of its own: for memory, which one contestant must not leave to the next, and for what could
/// crash.
enum Child {
    private static let flag = "--child"

    /// Starts this program again with hidden arguments and reads the one number it prints; nil if it crashed.
    static func run(_ workload: Workload, _ arguments: [String]) -> Double? {
        let process = Process()
        process.executableURL = Bundle.main.executableURL
        process.arguments = [flag, workload.rawValue] + arguments
        let output = Pipe()
        process.standardOutput = output
        do { try process.run() } catch { return nil }
        let data = output.fileHandleForReading.readDataToEndOfFile()
        process.waitUntilExit()
        guard process.terminationReason == .exit, process.terminationStatus == 0 else { return nil }
        return Double(String(decoding: data, as: UTF8.self).trimmingCharacters(in: .whitespacesAndNewlines))
    }

    /// In the child: does what the hidden arguments say and prints the number. False in a process that is no child.
    static func main(_ arguments: [String]) -> Bool {
        guard arguments.count == 5, arguments[1] == flag, let count = Int(arguments[4]) else { return false }
        switch Workload(rawValue: arguments[2]) {
        case .memory: print(MemoryUse.measure(arguments[3], count: count))
        case .release: print(Release.measure(arguments[3], count: count))
        default: return false
        }
        return true
    }
}

import BatonNetwork
import Foundation

/// What this process has of the system.
struct Resources: CustomStringConvertible {
    let descriptors: Int
    let threads: Int

    static var now: Resources {
        Resources(descriptors: count("/proc/self/fd"), threads: count("/proc/self/task"))
    }

    private static func count(_ folder: String) -> Int {
        (try? FileManager.default.contentsOfDirectory(atPath: folder))?.count ?? 0
    }

    var description: String { "\(descriptors) descriptors, \(threads) threads" }

    /// How much memory the process has in use, in bytes.
    static var residentBytes: Int { status("VmRSS:") }

    /// The most that it has ever had.
    static var mostResidentBytes: Int { status("VmHWM:") }

    private static func status(_ name: String) -> Int {
        let status = (try? String(contentsOfFile: "/proc/self/status", encoding: .utf8)) ?? ""
        let line = status.split(separator: "\n").first { $0.hasPrefix(name) }
        return (line?.split { " \t".contains($0) }.dropFirst().first.flatMap { Int($0) } ?? 0) * 1024
    }

    /// The system closes things when it gets round to it: asks again after each of some requests, which take their time.
    static func waitUntil(_ isFine: (Resources) -> Bool) async throws {
        for _ in 0..<2000 {
            if isFine(now) { return }
            _ = try await server.log("waiting")
        }
        // Of an exit test nothing but this is seen.
        FileHandle.standardError.write(Data("still there: \(now)\n".utf8))
        throw StillThere(resources: now)
    }

    struct StillThere: Error {
        let resources: Resources
    }
}

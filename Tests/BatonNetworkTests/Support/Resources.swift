import Baton
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

    /// The most that it has ever had. Nothing, under a sanitizer: what that keeps for itself would count, too.
    static var mostResidentBytes: Int { isSanitized ? 0 : status("VmHWM:") }

    private static let isSanitized = ["__tsan_init", "__asan_init"].contains { (name: String) in
        dlsym(dlopen(nil, RTLD_NOW), name) != nil
    }

    private static func status(_ name: String) -> Int {
        let status = (try? String(contentsOfFile: "/proc/self/status", encoding: .utf8)) ?? ""
        let line = status.split(separator: "\n").first { $0.hasPrefix(name) }
        return (line?.split { " \t".contains($0) }.dropFirst().first.flatMap { Int($0) } ?? 0) * 1024
    }

    /// The system closes things when it gets round to it: asks again after each of some requests, which take their
    /// time.
    static func waitUntil(_ isFine: (Resources) -> Bool) async throws {
        for _ in 0..<2000 {
            if isFine(now) { return }
            _ = try await server.log("waiting")
        }
        // Of an exit test nothing but this is seen.
        FileHandle.standardError.write(Data("still there: \(now)\n".utf8))
        throw StillThere(resources: now)
    }

    /// What is left when nothing has happened for a while: Dispatch ends a thread that had nothing to do for five
    /// seconds. One request takes that long; any more would have work for threads that are about to go.
    static func quiet() async throws -> Resources {
        _ = try await HTTPData(server.url("/bytes/2", ["piece": "1", "pause": "3000"])).execute(in: OperationContext())
        return now
    }

    struct StillThere: Error {
        let resources: Resources
    }
}

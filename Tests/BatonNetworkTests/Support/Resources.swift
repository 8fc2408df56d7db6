import Baton
import BatonNetwork
import Foundation

/// The descriptors and threads of this process.
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

    /// The resident memory of the process, in bytes.
    static var residentBytes: Int { status("VmRSS:") }

    /// The greatest amount of memory that the process has had in use, in bytes. 0 under a sanitizer, whose own memory
    /// would count.
    static var mostResidentBytes: Int { isSanitized ? 0 : status("VmHWM:") }

    private static let isSanitized = ["__tsan_init", "__asan_init"].contains { (name: String) in
        dlsym(dlopen(nil, RTLD_NOW), name) != nil
    }

    private static func status(_ name: String) -> Int {
        let status = (try? String(contentsOfFile: "/proc/self/status", encoding: .utf8)) ?? ""
        let line = status.split(separator: "\n").first { $0.hasPrefix(name) }
        return (line?.split { " \t".contains($0) }.dropFirst().first.flatMap { Int($0) } ?? 0) * 1024
    }

    /// Returns when `isFine` is true. The system releases resources late, so this checks again after each of many
    /// requests.
    static func waitUntil(_ isFine: (Resources) -> Bool) async throws {
        for _ in 0..<2000 {
            if isFine(now) { return }
            _ = try await server.log("waiting")
        }
        // Standard error is the only output of an exit test that is shown.
        FileHandle.standardError.write(Data("still there: \(now)\n".utf8))
        throw StillThere(resources: now)
    }

    /// Returns the resources after a quiet period: Dispatch ends a thread after five idle seconds. One slow request
    /// passes that time; more requests would give work to threads that are about to end.
    static func quiet() async throws -> Resources {
        _ = try await HTTPData(server.url("/bytes/2", ["piece": "1", "pause": "3000"])).execute(in: OperationContext())
        return now
    }

    struct StillThere: Error {
        let resources: Resources
    }
}

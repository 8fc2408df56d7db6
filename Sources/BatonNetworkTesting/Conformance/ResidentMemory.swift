internal import Foundation

/// The resident memory of the process.
enum ResidentMemory {
    /// The size in bytes. It is 0 on systems without `/proc`, so that memory is not checked there.
    static var bytes: Int {
        #if BATON_SANITIZED
            // The memory of the sanitizer itself would count as well.
            return 0
        #else
            let status = (try? String(contentsOfFile: "/proc/self/status", encoding: .utf8)) ?? ""
            let line = status.split(separator: "\n").first { $0.hasPrefix("VmRSS:") }
            let kilobytes = line?.split { " \t".contains($0) }.dropFirst().first.flatMap { Int($0) }
            return (kilobytes ?? 0) * 1024
        #endif
    }
}

#if os(Linux)
    import Foundation

    /// What this process has, as the system counts it.
    enum Census {
        static var descriptors: Int { names("/proc/self/fd").count }

        static func threads(_ name: String) -> Int {
            names("/proc/self/task").count {
                let comm = try? String(contentsOfFile: "/proc/self/task/\($0)/comm", encoding: .utf8)
                return comm?.trimmingCharacters(in: .newlines) == name
            }
        }

        private static func names(_ folder: String) -> [String] {
            (try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []
        }
    }
#endif

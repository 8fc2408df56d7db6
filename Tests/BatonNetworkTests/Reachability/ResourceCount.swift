#if os(Linux)
    import Foundation

    /// What this process has, as the system counts it.
    enum ResourceCount {
        /// Not all descriptors: Dispatch opens some for itself, early or late.
        static var sockets: Int {
            names("/proc/self/fd").count {
                let target = try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/fd/\($0)")
                return target?.hasPrefix("socket:") ?? false
            }
        }

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

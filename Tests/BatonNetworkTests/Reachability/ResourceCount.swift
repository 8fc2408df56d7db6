#if os(Linux)
    import Foundation

    /// Counts the resources of this process, as the system reports them.
    enum ResourceCount {
        /// The number of sockets. Other descriptors do not count, because Dispatch opens some at unpredictable times.
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

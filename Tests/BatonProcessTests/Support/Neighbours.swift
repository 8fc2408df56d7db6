import BatonProcess
import Foundation

#if canImport(Darwin)
    import Darwin
#elseif canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#endif

/// Queries and settings of this process and others.
enum Neighbours {
    /// Returns true if the process runs, sleeps or is stopped, but not if it is a zombie.
    static func isAlive(_ pid: Int32) -> Bool {
        #if os(Linux)
            guard let status = try? String(contentsOfFile: "/proc/\(pid)/stat", encoding: .utf8),
                let state = status.split(separator: ")").last?.split(separator: " ").first
            else { return false }
            return state != "Z" && state != "X"
        #else
            return kill(pid, 0) == 0
        #endif
    }

    /// Returns when the process has ended. It need not be a child of this process.
    static func waitForEnd(of pid: Int32) async {
        while isAlive(pid) { await Task.yield() }
    }

    /// Returns when the process has been reaped.
    static func waitForReaping(of pid: Int32) async {
        while kill(pid, 0) == 0 { await Task.yield() }
    }

    static func end(_ pid: Int32) { kill(pid, SIGKILL) }

    /// Restores the default action of `SIGPIPE`, which ends the process.
    static func takeBrokenPipesSeriously() { signal(SIGPIPE, SIG_DFL) }

    static func ignoreBrokenPipes() { signal(SIGPIPE, SIG_IGN) }

    /// Ignores `SIGCHLD`, so that the system reaps children as soon as they have ended.
    static func ignoreChildren() { signal(SIGCHLD, SIG_IGN) }

    /// Sets a variable in the environment of this process.
    static func setVariable(_ name: String, to value: String) { setenv(name, value, 1) }

    /// Limits the descriptors of this process to numbers below `count`.
    static func limitDescriptors(to count: Int) {
        var limit = rlimit()
        #if canImport(Glibc)
            let resource = __rlimit_resource_t(RLIMIT_NOFILE.rawValue)
        #else
            let resource = RLIMIT_NOFILE
        #endif
        getrlimit(resource, &limit)
        limit.rlim_cur = rlim_t(count)
        setrlimit(resource, &limit)
    }

    /// Opens a descriptor that a program would inherit, with a high number that no other test uses.
    static func openInheritable() -> Int32 { fcntl(2, F_DUPFD, 200) }

    static func close(_ descriptor: Int32) {
        #if canImport(Darwin)
            Darwin.close(descriptor)
        #elseif canImport(Glibc)
            Glibc.close(descriptor)
        #elseif canImport(Musl)
            Musl.close(descriptor)
        #endif
    }
}

/// The resources of a process that a leak increases.
struct Belongings: Equatable {
    var descriptors = 0
    var threads = 0
    var children = 0

    static func now() -> Belongings {
        func count(_ path: String) -> Int { (try? FileManager.default.contentsOfDirectory(atPath: path))?.count ?? 0 }
        var status = siginfo_t()
        // The call fails if the process has no child, neither running nor ended.
        let hasChildren = waitid(P_ALL, 0, &status, WEXITED | WNOHANG | WNOWAIT) == 0
        return Belongings(
            descriptors: count("/proc/self/fd"), threads: count("/proc/self/task"), children: hasChildren ? 1 : 0)
    }

    /// Returns the resources after a quiet period: Dispatch, whose threads run the tasks, ends a thread after five idle
    /// seconds.
    static func quiet() async throws -> Belongings {
        _ = try await Subprocess("sleep", arguments: ["6"]).result()
        return now()
    }
}

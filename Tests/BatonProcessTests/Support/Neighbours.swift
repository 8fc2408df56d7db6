import BatonProcess
import Foundation

#if canImport(Darwin)
    import Darwin
#elseif canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#endif

/// What the system knows of this process and others.
enum Neighbours {
    /// Runs, sleeps or is stopped; a process that has ended and that nobody has waited for does not.
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

    /// Returns when it has ended. It may be nobody's child.
    static func waitForEnd(of pid: Int32) async {
        while isAlive(pid) { await Task.yield() }
    }

    /// Returns when it has been waited for.
    static func waitForReaping(of pid: Int32) async {
        while kill(pid, 0) == 0 { await Task.yield() }
    }

    static func end(_ pid: Int32) { kill(pid, SIGKILL) }

    /// Sends the program's broken pipes back to what they are where nobody ignores them.
    static func takeBrokenPipesSeriously() { signal(SIGPIPE, SIG_DFL) }

    static func ignoreBrokenPipes() { signal(SIGPIPE, SIG_IGN) }

    /// The system forgets children as soon as they have ended.
    static func ignoreChildren() { signal(SIGCHLD, SIG_IGN) }

    /// Of the environment of this process.
    static func setVariable(_ name: String, to value: String) { setenv(name, value, 1) }

    /// How high the numbers of descriptors may get from here on.
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

    /// A descriptor that a program would inherit, with a high number that no other test has.
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

/// What a process has too much of when it leaks.
struct Belongings: Equatable {
    var descriptors = 0
    var threads = 0
    var children = 0

    static func now() -> Belongings {
        func count(_ path: String) -> Int { (try? FileManager.default.contentsOfDirectory(atPath: path))?.count ?? 0 }
        var status = siginfo_t()
        // Fails if there is no child, ended or not.
        let hasChildren = waitid(P_ALL, 0, &status, WEXITED | WNOHANG | WNOWAIT) == 0
        return Belongings(
            descriptors: count("/proc/self/fd"), threads: count("/proc/self/task"), children: hasChildren ? 1 : 0)
    }

    /// What is left when nothing has happened for a while: Dispatch, which has the threads of tasks, ends one that had
    /// nothing to do for five seconds.
    static func quiet() async throws -> Belongings {
        _ = try await Subprocess("sleep", arguments: ["6"]).result()
        return now()
    }
}

internal import Baton
internal import CBatonProcess

/// A second process that ends the programs of this process and removes its drafts when this process has ended, for
/// whatever reason.
///
/// The watchdog reads from a pipe which programs run and which drafts exist. When this process ends, by a signal, by
/// `exit` or by a crash, the system closes the pipe, and the watchdog sees the end of its input. It is a shell, so
/// nothing has to be installed. It is not a child of this process, so code that waits for every child does not wait for
/// it.
final class Watchdog: Sendable {
    /// A process group to end, or a draft to remove, when this process ends. The entry is valid until ``forget()`` is
    /// called or the entry is released.
    final class Entry: Sendable {
        private let watchdog: Watchdog
        private let number: Locked<Int?>

        fileprivate init(_ watchdog: Watchdog, _ number: Int) {
            self.watchdog = watchdog
            self.number = Locked(number)
        }

        deinit { forget() }

        func forget() {
            if let number = number.withLock({ $0.take() }) { watchdog.forget(number) }
        }
    }

    private static let running = Locked<Watchdog?>(nil)
    /// The number of bytes that the system writes to a pipe atomically.
    private static let longestMessage = 4096

    private let messages: Descriptor
    private let numbers = Locked(Numbers())

    /// Returns the watchdog of this process, or nil if it cannot be started. The first call takes a few milliseconds.
    static func shared() -> Watchdog? {
        if let running = running.withLock({ $0 }) { return running }
        guard let new = Watchdog() else { return nil }
        return running.withLock { running in
            // If two threads started a watchdog at once, the surplus one ends when its pipe is closed.
            if running == nil { running = new }
            return running
        }
    }

    private init?() {
        guard let ends = try? PipeEnds(),
            let nowhere = try? Descriptor.opened(by: { baton_open_writing("/dev/null", 0, $0) })
        else { return nil }
        let arguments = CStringArray(["sh", "-c", Self.script])
        let environment = EnvironmentBlock(.custom(["PATH": "/usr/bin:/bin"]))
        var pid: Int32 = 0
        let code = withExtendedLifetime((arguments, environment)) {
            baton_spawn(
                &pid, "/bin/sh", arguments.pointers, environment.entries.pointers, "/", ends.reading.number,
                nowhere.number, nowhere.number)
        }
        if code != 0 { return nil }
        // The shell starts the reading loop in the background and exits, so it can be reaped at once.
        var (status, isSignal): (Int32, Int32) = (0, 0)
        _ = baton_reap(pid, &status, &isSignal)
        messages = ends.writing
    }

    /// Registers a process group that is to be ended with this process.
    func watch(group: Int32) -> Entry {
        let number = numbers.withLock { $0.take() }
        send("group \(number)\n\(group)\n")
        return Entry(self, number)
    }

    /// Registers a file that is to be removed with this process. Returns nil if the path cannot be sent: it contains a
    /// newline, is too long, or cannot be made absolute.
    func watch(draft path: String) -> Entry? {
        guard let path = Self.absolute(path), !path.utf8.contains(UInt8(ascii: "\n")),
            path.utf8.count < Self.longestMessage - 100
        else { return nil }
        let number = numbers.withLock { $0.take() }
        send("draft \(number)\n\(path)\n")
        return Entry(self, number)
    }

    private func forget(_ number: Int) {
        send("forget \(number)\n\n")
        numbers.withLock { $0.release(number) }
    }

    /// Sends a message to the watchdog. If the watchdog has been killed, the write fails. The error is ignored, because
    /// there is no remedy.
    private func send(_ message: String) {
        var message = message
        message.withUTF8 { bytes in
            if let start = bytes.baseAddress { _ = baton_write(messages.number, start, bytes.count) }
        }
    }

    private static func absolute(_ path: String) -> String? {
        if path.utf8.first == UInt8(ascii: "/") { return path }
        guard let text = baton_working_directory() else { return nil }
        defer { baton_free(text) }
        return "\(String(cString: text))/\(path)"
    }

    /// Allocates the numbers of entries. They are reused, because the shell loops over all numbers up to the largest.
    private struct Numbers {
        private var free: [Int] = []
        private var count = 0

        mutating func take() -> Int {
            if let number = free.popLast() { return number }
            count += 1
            return count
        }

        mutating func release(_ number: Int) { free.append(number) }
    }

    /// The script of the watchdog. Each message is a word and a number on one line, and a path or a process group on
    /// the next.
    ///
    /// Groups get `SIGTERM`, and `SIGKILL` after five seconds. The pipe is moved to descriptor 3, because a shell
    /// redirects the standard input of a background command to /dev/null.
    private static let script = #"""
        exec 3<&0
        watch() {
          trap '' HUP INT QUIT TERM TSTP
          last=0
          while read -r word number && IFS= read -r rest; do
            [ "$number" -gt "$last" ] && last=$number
            case $word in
            group) eval "group$number=\$rest" ;;
            draft) eval "draft$number=\$rest" ;;
            forget) unset "group$number" "draft$number" ;;
            esac
          done
          signal TERM
          signal CONT
          round=0
          while [ "$round" -lt 50 ] && signal 0; do
            sleep 0.1
            round=$((round + 1))
          done
          signal KILL
          number=0
          while [ "$number" -lt "$last" ]; do
            number=$((number + 1))
            eval "rest=\${draft$number-}"
            [ -n "$rest" ] && rm -f -- "$rest"
          done
        }
        signal() {
          found=1
          number=0
          while [ "$number" -lt "$last" ]; do
            number=$((number + 1))
            eval "rest=\${group$number-}"
            [ -n "$rest" ] && kill -s "$1" -- "-$rest" && found=0
          done
          return "$found"
        }
        watch <&3 3<&- &
        """#
}

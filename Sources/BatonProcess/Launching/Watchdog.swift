internal import Baton
internal import CBatonProcess

/// Another process that ends the programs and removes the drafts of this one when this one has gone, however that
/// happened.
///
/// It reads from a pipe which programs run and which drafts there are. When this process ends, of a signal, by `exit`
/// or by a crash, the system closes the pipe, and the other process finds the end of its input. It is a shell, so that
/// there is nothing to install, and no child of this process, so that code that waits for every child does not wait for
/// it.
final class Watchdog: Sendable {
    /// Something that is to go when this process does, until ``forget()`` is called or this is released.
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
    /// What the system writes to a pipe in one piece.
    private static let longestMessage = 4096

    private let messages: Descriptor
    private let numbers = Locked(Numbers())

    /// The watchdog of this process; nil if it cannot be started. Takes a few milliseconds the first time.
    static func shared() -> Watchdog? {
        if let running = running.withLock({ $0 }) { return running }
        guard let new = Watchdog() else { return nil }
        return running.withLock { running in
            // If two were first, the other one ends when its pipe is closed.
            if running == nil { running = new }
            return running
        }
    }

    private init?() {
        guard let ends = try? PipeEnds(),
            let nowhere = try? Descriptor.opened(by: { baton_open_writing("/dev/null", 0, $0) })
        else { return nil }
        let arguments = CStrings(["sh", "-c", Self.script])
        let environment = EnvironmentBlock(.custom(["PATH": "/usr/bin:/bin"]))
        var pid: Int32 = 0
        let code = withExtendedLifetime((arguments, environment)) {
            baton_spawn(
                &pid, "/bin/sh", arguments.pointers, environment.entries.pointers, "/", ends.reading.number,
                nowhere.number, nowhere.number)
        }
        if code != 0 { return nil }
        // It leaves the one that reads behind, and ends.
        var (status, isSignal): (Int32, Int32) = (0, 0)
        _ = baton_reap(pid, &status, &isSignal)
        messages = ends.writing
    }

    /// Has a group of processes ended.
    func watch(group: Int32) -> Entry {
        let number = numbers.withLock { $0.take() }
        send("group \(number)\n\(group)\n")
        return Entry(self, number)
    }

    /// Has a file removed. Nil: its path cannot be told.
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
        numbers.withLock { $0.giveBack(number) }
    }

    /// If nobody reads it, nobody watches any more, and there is nothing to be done about that.
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

    /// The numbers of entries are small, because the shell goes through all of them.
    private struct Numbers {
        private var free: [Int] = []
        private var count = 0

        mutating func take() -> Int {
            if let number = free.popLast() { return number }
            count += 1
            return count
        }

        mutating func giveBack(_ number: Int) { free.append(number) }
    }

    /// Each message is a word and a number on one line, and the rest on the next.
    ///
    /// Groups get `SIGTERM`, and `SIGKILL` after five seconds. In the background a shell would read from /dev/null,
    /// unless the descriptor has another number.
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

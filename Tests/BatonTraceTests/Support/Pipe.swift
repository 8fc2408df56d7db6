import Foundation

@testable import BatonTrace

/// A pipe of the system, for views that write to descriptors.
final class Pipe: Sendable {
    struct NoPipe: Error {}

    private let readEnd: CInt
    let writeEnd: CInt

    init() throws {
        var ends: [CInt] = [-1, -1]
        guard pipe(&ends) == 0 else { throw NoPipe() }
        (readEnd, writeEnd) = (ends[0], ends[1])
        _ = fcntl(readEnd, F_SETFL, O_NONBLOCK)
    }

    deinit {
        close(readEnd)
        close(writeEnd)
    }

    /// What is there, without waiting.
    func read() -> String {
        var bytes: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 65536)
        while true {
            let count = Foundation.read(readEnd, &buffer, buffer.count)
            if count <= 0 { return String(decoding: bytes, as: UTF8.self) }
            bytes += buffer[..<count]
        }
    }

    /// Puts something else, that nobody reads, in the place of the end that is read.
    func breakOff() {
        let nothing = open("/dev/null", O_RDONLY)
        dup2(nothing, readEnd)
        close(nothing)
    }

    /// Until nothing more fits.
    func fill() {
        let flags = fcntl(writeEnd, F_GETFL)
        _ = fcntl(writeEnd, F_SETFL, flags | O_NONBLOCK)
        let bytes = [UInt8](repeating: 0x20, count: 1024)
        while write(writeEnd, bytes, bytes.count) > 0 {}
        while write(writeEnd, bytes, 1) > 0 {}
        _ = fcntl(writeEnd, F_SETFL, flags)
    }

    func options(_ style: LiveView.Options.Style = .lines) -> LiveView.Options {
        var options = LiveView.Options()
        options.output = writeEnd
        options.style = style
        return options
    }

    /// Without colours, with a guard of its own: that of the process is for all views.
    func output(
        _ style: LiveView.Options.Style, redrawGuard: RedrawGuard = RedrawGuard(), locale: String = "C.UTF-8",
        size: @escaping @Sendable () -> LiveOutput.Size = { LiveOutput.Size(columns: 80, rows: 24) }
    ) -> LiveOutput {
        let ability = LiveOutput.Ability(style, isTerminal: true, ["LANG": locale, "NO_COLOR": "1"])
        return LiveOutput(options(style), ability, redrawGuard, size: size)
    }
}

import Foundation

@testable import BatonTrace

/// A pipe, for views that write to descriptors.
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

    /// Returns the text that is available, without waiting.
    func read() -> String {
        var bytes: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 65536)
        while true {
            let count = Foundation.read(readEnd, &buffer, buffer.count)
            if count <= 0 { return String(decoding: bytes, as: UTF8.self) }
            bytes += buffer[..<count]
        }
    }

    /// Replaces the read end, so that the pipe has no reader.
    func breakOff() {
        let nothing = open("/dev/null", O_RDONLY)
        dup2(nothing, readEnd)
        close(nothing)
    }

    /// Writes until the pipe is full.
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

    /// Makes an output without colours. It has a guard of its own, because all views share that of the process.
    func output(
        _ style: LiveView.Options.Style, redrawGuard: RedrawGuard = RedrawGuard(), locale: String = "C.UTF-8",
        size: @escaping @Sendable () -> LiveOutput.Size = { LiveOutput.Size(columns: 80, rows: 24) }
    ) -> LiveOutput {
        let ability = LiveOutput.Ability(style, isTerminal: true, ["LANG": locale, "NO_COLOR": "1"])
        return LiveOutput(options(style), ability, redrawGuard, size: size)
    }
}

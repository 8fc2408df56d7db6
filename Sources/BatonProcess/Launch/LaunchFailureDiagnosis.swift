internal import Baton
internal import CBatonProcess

/// Finds out why the system does not start a file. The system's own code may say only that a file is missing, or
/// nothing useful.
struct LaunchFailureDiagnosis {
    private static let slash = UInt8(ascii: "/")
    /// The number of bytes to read. No system reads more of a first line.
    private static let headSize = 512

    private let path: String

    /// Makes the absolute path of the file, as far as `directory` is known.
    ///
    /// - Parameters:
    ///   - path: The path of the file.
    ///   - directory: The directory that a relative path starts from, or nil for the directory of this process.
    init(_ path: String, from directory: String?) {
        self.path = path.utf8.first == Self.slash ? path : directory.map { "\($0)/\(path)" } ?? path
    }

    /// Returns a sentence without its full stop, or nil if the system's code says everything.
    func problem(_ code: Int32) -> String? {
        switch baton_check_executable(path) {
        case 0: content(code)
        case baton_EISDIR: "It is a directory"
        case baton_EACCES: "The file may not be run by this user. Give it the right (chmod +x)"
        default: nil
        }
    }

    private func content(_ code: Int32) -> String? {
        var file = baton_file()
        // Only a regular file is known to have a beginning that can be read without waiting.
        guard baton_examine(path, &file) == 0, file.kind == baton_file_regular else { return nil }
        let head = Self.head(of: path)
        if head.starts(with: "#!".utf8) { return firstLine(head.dropFirst(2)) }
        let isBinary = head.starts(with: [0x7f] + "ELF".utf8)
        switch code {
        case baton_ENOENT where isBinary:
            return "The file is there, and not the loader that it is linked for: it was built for another system"
        case baton_ENOEXEC where isBinary: return "The file was built for another system, or another processor"
        case baton_ENOEXEC where head.isEmpty: return "The file is empty"
        case baton_ENOEXEC where head.starts(with: [0xef, 0xbb, 0xbf] + "#!".utf8):
            return
                "The file begins with a byte order mark, so that the system does not see its ‘#!’. Save it without one"
        case baton_ENOEXEC:
            return "The file is not a program, and does not begin with ‘#!’ and the path of an interpreter"
        case baton_EACCES: return "The file may be run, but not on its file system, or not by this process"
        default: return nil
        }
    }

    private func firstLine(_ text: ArraySlice<UInt8>) -> String? {
        let blanks = " \t".utf8
        let line = text.prefix { $0 != UInt8(ascii: "\n") }.drop { blanks.contains($0) }
        let name = line.prefix { !blanks.contains($0) }
        let interpreter = String(decoding: name, as: UTF8.self)
        if name.isEmpty { return "The first line of the file has no interpreter behind its ‘#!’" }
        if name.last == UInt8(ascii: "\r") {
            return
                "The first line of the file ends with a carriage return, which the system takes for a part of the name "
                + "\(String(interpreter.dropLast()).quoted). Save the file with Unix line ends"
        }
        let code = baton_check_executable(interpreter)
        if code == 0 { return nil }
        return "The first line of the file names the interpreter \(interpreter.quoted): \(SystemFailure(code: code))"
    }

    private static func head(of path: String) -> [UInt8] {
        guard let file = try? Descriptor.opened(by: { baton_open_reading(path, $0) }) else { return [] }
        return [UInt8](unsafeUninitializedCapacity: headSize) { buffer, size in
            guard let start = buffer.baseAddress else { return }
            size = max(0, baton_read(file.number, start, headSize))
        }
    }
}

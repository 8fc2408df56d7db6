internal import Baton
internal import CBatonProcess

/// The environment variables that a program gets.
public struct ProgramEnvironment: Sendable {
    enum Kind: Sendable {
        case inherited
        case custom([String: String])
        case updating([String: String?])
    }

    let kind: Kind

    /// The environment of this process at the time when the program is started.
    public static let inherited = ProgramEnvironment(kind: .inherited)

    /// Passes the given variables and no others.
    ///
    /// If `PATH` is not among them, the program is looked up in `/usr/bin` and `/bin`.
    ///
    /// - Parameter variables: The values of the variables, by their names.
    public static func custom(_ variables: [String: String]) -> ProgramEnvironment {
        ProgramEnvironment(kind: .custom(variables))
    }

    /// Passes the environment of this process with some variables set or removed.
    ///
    /// - Parameter changes: The new values of the variables, by their names. A variable whose value is nil is removed.
    public static func updating(_ changes: [String: String?]) -> ProgramEnvironment {
        ProgramEnvironment(kind: .updating(changes))
    }
}

// MARK: - Environment of a new process

/// The environment of a program as `NAME=value` strings. Inherited variables are copied byte for byte.
struct EnvironmentBlock {
    let entries = CStringArray()

    init(_ environment: ProgramEnvironment) {
        switch environment.kind {
        case .inherited:
            inherit { _ in true }
        case .custom(let variables):
            for (name, value) in variables { entries.append("\(name)=\(value)") }
        case .updating(let changes):
            let changed = Set(changes.keys.map { Array($0.utf8) })
            inherit { !changed.contains($0) }
            for case (let name, let value?) in changes { entries.append("\(name)=\(value)") }
        }
    }

    /// Copies the variables of this program. Another thread must not call `setenv` at the same time: C has no lock for
    /// the environment that a reader could take.
    private func inherit(where isWanted: ([UInt8]) -> Bool) {
        guard var next = baton_environment() else { return }
        while let entry = next.pointee {
            if isWanted(Self.name(of: entry)) { entries.append(entry) }
            next += 1
        }
    }

    /// Returns the value of a variable, or nil if the variable is not set.
    func value(of name: String) -> String? {
        let name = Array(name.utf8)
        for case let entry? in entries.pointers where Self.name(of: entry) == name && entry[name.count] != 0 {
            return String(cString: entry + name.count + 1)
        }
        return nil
    }

    /// Returns the bytes before the first `=`. The comparison is by bytes and not by characters, because Swift merges a
    /// `=` and a combining mark at the beginning of the value into one character, and treats as equal some names that
    /// the system tells apart.
    private static func name(of entry: UnsafePointer<CChar>) -> [UInt8] {
        var name: [UInt8] = []
        while case let byte = UInt8(truncatingIfNeeded: entry[name.count]), byte != 0, byte != UInt8(ascii: "=") {
            name.append(byte)
        }
        return name
    }

    /// Returns a description of a variable with an invalid name or value, or nil if all are valid.
    static func problem(of environment: ProgramEnvironment) -> String? {
        let variables: [(String, String)] =
            switch environment.kind {
            case .inherited: []
            case .custom(let variables): variables.map { ($0.key, $0.value) }
            case .updating(let changes): changes.map { ($0.key, $0.value ?? "") }
            }
        for (name, value) in variables {
            if name.isEmpty { return "an environment variable has no name" }
            if name.utf8.contains(UInt8(ascii: "=")) {
                return "the environment variable \(name.quoted) has a = in its name"
            }
            if name.containsNUL || value.containsNUL {
                return "the environment variable \(name.quoted) has a zero byte in it"
            }
        }
        return nil
    }
}

extension String {
    /// True if the string contains a zero byte, where C would end it.
    var containsNUL: Bool { utf8.contains(0) }
}

// MARK: - C strings

/// A null-terminated array of C strings, as `execve` takes it. The strings are freed when the object is released.
final class CStringArray {
    private(set) var pointers: [UnsafeMutablePointer<CChar>?] = [nil]

    deinit {
        for pointer in pointers { pointer?.deallocate() }
    }

    convenience init(_ texts: [String]) {
        self.init()
        for text in texts { append(text) }
    }

    func append(_ text: String) { text.withCString { append($0) } }

    /// Appends a copy of the text.
    func append(_ text: UnsafePointer<CChar>) {
        var count = 1
        while text[count - 1] != 0 { count += 1 }
        let copy = UnsafeMutablePointer<CChar>.allocate(capacity: count)
        copy.initialize(from: text, count: count)
        pointers.insert(copy, at: pointers.count - 1)
    }
}

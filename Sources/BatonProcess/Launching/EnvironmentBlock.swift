internal import CBatonProcess

/// The environment of a program as `NAME=value`, byte for byte that of this process where it is inherited.
struct EnvironmentBlock {
    let entries = CStrings()

    init(_ environment: ProgramEnvironment) {
        switch environment.kind {
        case .inherited:
            inherit { _ in true }
        case .custom(let variables):
            for (name, value) in variables { entries.append("\(name)=\(value)") }
        case .updating(let changes):
            inherit { changes[$0] == nil }
            for case (let name, let value?) in changes { entries.append("\(name)=\(value)") }
        }
    }

    private func inherit(where isWanted: (String) -> Bool) {
        guard var next = baton_environment() else { return }
        while let entry = next.pointee {
            if isWanted(Self.name(of: entry)) { entries.append(entry) }
            next += 1
        }
    }

    /// Nil: it is not set.
    func value(of name: String) -> String? {
        for case let entry? in entries.pointers where Self.name(of: entry) == name {
            return String(String(cString: entry).dropFirst(name.count + 1))
        }
        return nil
    }

    private static func name(of entry: UnsafePointer<CChar>) -> String {
        String(String(cString: entry).prefix { $0 != "=" })
    }

    /// What is wrong with a variable that no environment can have, or nil.
    static func problem(of environment: ProgramEnvironment) -> String? {
        let variables: [(String, String)] =
            switch environment.kind {
            case .inherited: []
            case .custom(let variables): variables.map { ($0.key, $0.value) }
            case .updating(let changes): changes.map { ($0.key, $0.value ?? "") }
            }
        for (name, value) in variables {
            if name.isEmpty { return "an environment variable has no name" }
            if name.utf8.contains(UInt8(ascii: "=")) { return "the environment variable ‘\(name)’ has a = in its name" }
            if name.hasZero || value.hasZero { return "the environment variable ‘\(name)’ has a zero byte in it" }
        }
        return nil
    }
}

extension String {
    /// C would take what comes before it.
    var hasZero: Bool { utf8.contains(0) }
}

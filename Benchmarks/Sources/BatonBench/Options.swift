/// The options of the command line.
struct Options {
    var isQuick = false
    /// The workloads to run, or nil for all.
    var workloads: [Workload]?
    /// The names of the contestants to run, or nil for all.
    var contestants: [String]?
    /// The number of rounds, or nil for that of the plan.
    var rounds: Int?
    /// The path of the JSON file, or nil for none.
    var json: String?
    /// The arguments as they were given.
    let arguments: [String]

    static let usage = """
        usage: baton-bench [--quick] [--workload a,b] [--only Baton,Task] [--rounds N] [--json FILE]

          --quick      n ≤ 10,000 and few rounds: seconds instead of minutes
          --workload   only these: \(Workload.allCases.map(\.rawValue).joined(separator: ", "))
          --only       only these contestants: \(allContestants.map(\.name).joined(separator: ", "))
          --rounds     so many rounds instead of what suits the size
          --json       where to write the results
        """

    struct Wrong: Error {
        let message: String
    }

    init(_ arguments: [String]) throws(Wrong) {
        self.arguments = arguments
        var rest = arguments[...]
        while let argument = rest.popFirst() {
            switch argument {
            case "--quick": isQuick = true
            case "--workload": workloads = try Self.workloads(Self.value(of: argument, &rest))
            case "--only": contestants = try Self.contestants(Self.value(of: argument, &rest))
            case "--rounds":
                guard let number = Int(try Self.value(of: argument, &rest)), number > 0 else {
                    throw Wrong(message: "--rounds takes a positive number")
                }
                rounds = number
            case "--json": json = try Self.value(of: argument, &rest)
            default: throw Wrong(message: "unknown argument: \(argument)")
            }
        }
    }

    private static func value(of argument: String, _ rest: inout ArraySlice<String>) throws(Wrong) -> String {
        guard let value = rest.popFirst() else { throw Wrong(message: "\(argument) takes a value") }
        return value
    }

    /// Returns the workloads with these names. `h` stands for all whose names begin with it.
    private static func workloads(_ list: String) throws(Wrong) -> [Workload] {
        var result: [Workload] = []
        for name in list.split(separator: ",").map(String.init) {
            let exact = Workload.allCases.filter { $0.rawValue == name }
            let matches = exact.isEmpty ? Workload.allCases.filter { name == "h" && $0.bodyMicroseconds > 0 } : exact
            if matches.isEmpty { throw Wrong(message: "unknown workload: \(name)") }
            result += matches
        }
        return result
    }

    private static func contestants(_ list: String) throws(Wrong) -> [String] {
        let names = list.split(separator: ",").map(String.init)
        for name in names where !allContestants.contains(where: { $0.name == name }) {
            throw Wrong(message: "unknown contestant: \(name)")
        }
        return names
    }
}

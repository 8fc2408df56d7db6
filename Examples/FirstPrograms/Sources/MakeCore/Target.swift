/// Something to be made, as the build file says it.
package struct Target: Sendable, Hashable {
    /// The name: the path of the file that the command makes, if it makes one.
    package var name: String
    /// Targets and files that come first.
    package var needs: [String]
    /// The command that the shell runs; nil for a target that only stands for others.
    package var command: String?
    /// How often the command may run, if it fails.
    package var attempts: Int
    /// How many seconds each attempt may take.
    package var timeLimit: Double?

    package init(
        _ name: String, needs: [String] = [], command: String? = nil, attempts: Int = 1, timeLimit: Double? = nil
    ) {
        self.name = name
        self.needs = needs
        self.command = command
        self.attempts = attempts
        self.timeLimit = timeLimit
    }
}

extension Target: Decodable {
    private enum CodingKeys: CodingKey { case name, needs, command, attempts, timeLimit }

    package init(from decoder: any Decoder) throws {
        let values = try decoder.container(keyedBy: CodingKeys.self)
        self.init(
            try values.decode(String.self, forKey: .name),
            needs: try values.decodeIfPresent([String].self, forKey: .needs) ?? [],
            command: try values.decodeIfPresent(String.self, forKey: .command),
            attempts: try values.decodeIfPresent(Int.self, forKey: .attempts) ?? 1,
            timeLimit: try values.decodeIfPresent(Double.self, forKey: .timeLimit))
    }
}

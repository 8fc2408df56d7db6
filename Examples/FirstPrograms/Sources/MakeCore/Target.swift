/// A target, as the build file describes it.
package struct Target: Sendable, Hashable {
    /// The name: the path of the file that the command makes, if it makes one.
    package var name: String
    /// The targets and files that it needs.
    package var needs: [String]
    /// The shell command, or nil for a target that only groups others.
    package var command: String?
    /// The greatest number of times that the command is run if it fails.
    package var attempts: Int
    /// The time limit of each attempt, in seconds.
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

#if canImport(FoundationEssentials)
    public import FoundationEssentials
#else
    public import Foundation
#endif

/// The output and the termination of a program that has succeeded.
public struct SubprocessResult: Sendable, Hashable {
    /// The bytes that the program wrote to its standard output if they were collected, otherwise empty.
    public let standardOutput: Data
    /// The bytes, or the last bytes, that the program wrote to its standard error. Empty if they went elsewhere.
    public let standardError: Data
    /// The way in which the program ended.
    public let termination: SubprocessTermination

    /// The standard output as text. Bytes that are not valid UTF-8 become U+FFFD.
    ///
    /// - Complexity: O(*n*), where *n* is the number of bytes.
    public var text: String { String(decoding: standardOutput, as: UTF8.self) }

    /// The exit status, or nil if a signal ended the program, which can be a success only in a pipeline.
    public var status: Int32? {
        if case .exited(let status) = termination { status } else { nil }
    }

    /// Makes a result, for tests of code that takes one.
    ///
    /// - Parameters:
    ///   - standardOutput: The bytes of standard output.
    ///   - standardError: The bytes of standard error.
    ///   - termination: The way in which the program ended.
    public init(
        standardOutput: Data = Data(), standardError: Data = Data(), termination: SubprocessTermination = .exited(0)
    ) {
        self.standardOutput = standardOutput
        self.standardError = standardError
        self.termination = termination
    }
}

/// The way in which a program ended.
@nonexhaustive
public enum SubprocessTermination: Sendable, Hashable {
    /// The program exited with this status.
    case exited(Int32)
    /// This signal ended the program.
    case signalled(Int32)
}

// MARK: - Exit statuses

/// The exit statuses of a program that count as a success. A program that a signal ended never counts as one.
public struct AcceptedStatuses: Sendable, Hashable {
    private let statuses: Set<Int32>?

    /// The status 0 alone, which is the convention.
    public static let zero = AcceptedStatuses(statuses: [0])

    /// Every status.
    public static let all = AcceptedStatuses(statuses: nil)

    /// Accepts the given statuses and no others.
    ///
    /// For example, `.these(0, 1)` suits `grep` and `diff`: `grep` exits with 1 if it finds nothing, and `diff` if it
    /// finds a difference.
    ///
    /// - Parameter statuses: The exit statuses that count as a success.
    public static func these(_ statuses: Int32...) -> AcceptedStatuses { AcceptedStatuses(statuses: Set(statuses)) }

    /// Returns true if the status counts as a success.
    ///
    /// - Parameter status: The exit status of a program.
    public func contains(_ status: Int32) -> Bool { statuses?.contains(status) ?? true }
}

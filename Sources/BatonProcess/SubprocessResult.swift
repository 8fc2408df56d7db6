#if canImport(FoundationEssentials)
    public import FoundationEssentials
#else
    public import Foundation
#endif

/// What a program that has succeeded leaves.
public struct SubprocessResult: Sendable, Hashable {
    /// What it wrote to its standard output, byte for byte, if that was collected; else empty.
    public let standardOutput: Data
    /// What it wrote to its standard error, or the end of it; empty if that went elsewhere.
    public let standardError: Data
    /// How it ended.
    public let termination: SubprocessTermination

    /// The standard output as text. Bytes that are no UTF-8 become U+FFFD.
    public var text: String { String(decoding: standardOutput, as: UTF8.self) }

    /// Its exit status; nil if a signal ended it, which only a program of a pipeline may survive as a success.
    public var status: Int32? {
        if case .exited(let status) = termination { status } else { nil }
    }

    /// For tests of what takes such a result.
    public init(
        standardOutput: Data = Data(), standardError: Data = Data(), termination: SubprocessTermination = .exited(0)
    ) {
        self.standardOutput = standardOutput
        self.standardError = standardError
        self.termination = termination
    }
}

/// How a program ended.
@nonexhaustive
public enum SubprocessTermination: Sendable, Hashable {
    /// By itself, with this status.
    case exited(Int32)
    /// By this signal.
    case signalled(Int32)
}

/// What an operation runs.
@usableFromInline
enum Body: Sendable {
    @usableFromInline typealias Plain = nonisolated(nonsending) @Sendable () async throws -> Void
    @usableFromInline typealias Wrapped = nonisolated(nonsending) @Sendable (Execution) async -> Void

    /// As the user wrote it, with nothing for its output. A closure around it would be one more object, and one more
    /// asynchronous call.
    case plain(Plain)
    /// With a closure around it that finds its inputs and stores its outcome.
    case wrapped(Wrapped)

    @inline(__always)
    nonisolated(nonsending) func run(_ execution: Execution) async {
        switch self {
        case .plain(let body): do { try await body() } catch { execution.bodyThrew(error) }
        case .wrapped(let body): await body(execution)
        }
    }
}

/// The task-local that queues of a hunt carry.
enum HuntLocal {
    @TaskLocal static var tag: HuntTag?
}

/// The value of the task-local: the operations that the current call may add.
final class HuntTag: Sendable {
    let ids: Set<Int>
    private let token: LiveTokens.Token

    init(ids: Set<Int>, token: LiveTokens.Token) {
        self.ids = ids
        self.token = token
    }
}

extension HuntRound {
    private func tag(_ ids: [Int]) -> HuntTag? {
        program.features.contains(.taskLocals) ? HuntTag(ids: program.closure(of: ids), token: living.token()) : nil
    }

    func tagged<Value>(_ ids: [Int], _ add: () throws -> Value) rethrows -> Value {
        try HuntLocal.$tag.withValue(tag(ids)) { try add() }
    }

    nonisolated(nonsending) func tagged<Value>(
        _ ids: [Int], _ add: nonisolated(nonsending) () async throws -> Value
    ) async rethrows -> Value {
        try await HuntLocal.$tag.withValue(tag(ids)) { try await add() }
    }

    /// Checks that the code of a node sees the value of the call that has added it, or none if no queue carries it.
    func checkTag(_ id: Int, _ place: String) {
        let tag = HuntLocal.tag
        if program.carriesTaskLocals ? tag?.ids.contains(id) != true : tag != nil {
            fault("n\(id): \(place) sees the task-local of \(tag.map { "\($0.ids.sorted())" } ?? "nobody")")
        }
    }
}

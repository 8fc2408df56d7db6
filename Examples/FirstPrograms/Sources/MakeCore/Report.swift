import Baton

/// The outcome of each target.
package struct Report: Sendable, Hashable {
    package enum Outcome: Sendable, Hashable {
        case made
        case upToDate
        case failed(String)
        /// A target that it needs has failed. The value is the first one that failed.
        case notMade(because: String)
        /// The target was cancelled before it was finished.
        case stopped

        init(_ error: OperationError?) {
            self =
                switch error {
                case nil: .made
                case .skipped(.condition): .upToDate
                case .skipped(.edge(let source, _)): .notMade(because: source.name)
                case .cancelled: .stopped
                case let error?: .failed("\(error)")
                }
        }
    }

    package struct Line: Sendable, Hashable, CustomStringConvertible {
        package let name: String
        package let outcome: Outcome

        package var description: String {
            switch outcome {
            case .made: "\(name): made"
            case .upToDate: "\(name): up to date"
            case .failed(let why): "\(name): failed: \(why)"
            case .notMade(let source): "\(name): not made, because ‘\(source)’ failed"
            case .stopped: "\(name): stopped"
            }
        }
    }

    package let lines: [Line]

    init(_ plan: Plan, errors: [OperationError?]) {
        let outcomes = errors.map(Outcome.init)
        let byName = Dictionary(uniqueKeysWithValues: zip(plan.targets, outcomes).map { ($0.name, ($0.needs, $1)) })
        /// Returns the failed target among all that this one needs. It also searches the needs of stopped targets,
        /// which might have failed in any case.
        func culprit(of name: String) -> String? {
            var open = [name]
            var seen: Set<String> = []
            while let name = open.popLast() {
                guard let (needs, outcome) = byName[name], seen.insert(name).inserted else { continue }
                switch outcome {
                case .failed: return name
                case .notMade(let source): return source
                case .stopped: open += needs.reversed()
                case .made, .upToDate: break
                }
            }
            return nil
        }
        lines = zip(plan.targets, outcomes).map { target, outcome in
            if outcome == .stopped, let source = culprit(of: target.name) {
                Line(name: target.name, outcome: .notMade(because: source))
            } else {
                Line(name: target.name, outcome: outcome)
            }
        }
    }

    package subscript(_ name: String) -> Outcome? { lines.first { $0.name == name }?.outcome }

    /// The lines about targets that were not made.
    package var problems: [Line] {
        lines.filter { $0.outcome != .made && $0.outcome != .upToDate }
    }
}

/// What those who exclude one another agree on: a text, or a type. A type never meets a text that reads the same.
enum ExclusionName: Sendable {
    case text(String)
    case type(Any.Type)
    /// The width of a group.
    case group(OperationReference)
}

extension ExclusionName: Hashable {
    static func == (left: Self, right: Self) -> Bool {
        switch (left, right) {
        case (.text(let left), .text(let right)): left == right
        case (.type(let left), .type(let right)): left == right
        case (.group(let left), .group(let right)): left == right
        case (.text, _), (.type, _), (.group, _): false
        }
    }

    func hash(into hasher: inout Hasher) {
        switch self {
        case .text(let text): hasher.combine(text)
        case .type(let type): hasher.combine(ObjectIdentifier(type))
        case .group(let group): hasher.combine(group)
        }
    }
}

extension ExclusionName: CustomStringConvertible {
    var description: String {
        switch self {
        case .text(let text): "‘\(text.singleLine)’"
        case .type(let type): String(describing: type)
        case .group(let group): "the width of \(group)"
        }
    }
}

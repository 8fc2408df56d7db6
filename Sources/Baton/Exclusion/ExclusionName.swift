/// What those who exclude one another agree on: a text, or a type. A type never meets a text that reads the same.
enum ExclusionName: Sendable {
    case text(String)
    case type(Any.Type)
}

extension ExclusionName: Hashable {
    static func == (left: Self, right: Self) -> Bool {
        switch (left, right) {
        case (.text(let left), .text(let right)): left == right
        case (.type(let left), .type(let right)): left == right
        case (.text, .type), (.type, .text): false
        }
    }

    func hash(into hasher: inout Hasher) {
        switch self {
        case .text(let text): hasher.combine(text)
        case .type(let type): hasher.combine(ObjectIdentifier(type))
        }
    }
}

extension ExclusionName: CustomStringConvertible {
    var description: String {
        switch self {
        case .text(let text): "‘\(text)’"
        case .type(let type): String(describing: type)
        }
    }
}

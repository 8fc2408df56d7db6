/// The name of an exclusion: a text or a type. A text and a type are never equal, even if the text is the name of the
/// type.
enum ExclusionName: Sendable {
    case text(String)
    case type(Any.Type)
    /// The width of a group.
    case group(OperationReference)
    /// A name that counts only within this scope.
    indirect case within(OperationScope, ExclusionName)
}

extension ExclusionName: Hashable {
    static func == (left: Self, right: Self) -> Bool {
        switch (left, right) {
        case (.text(let left), .text(let right)): left == right
        case (.type(let left), .type(let right)): left == right
        case (.group(let left), .group(let right)): left == right
        case (.within(let scope, let left), .within(let other, let right)): scope == other && left == right
        case (.text, _), (.type, _), (.group, _), (.within, _): false
        }
    }

    func hash(into hasher: inout Hasher) {
        switch self {
        case .text(let text): hasher.combine(text)
        case .type(let type): hasher.combine(ObjectIdentifier(type))
        case .group(let group): hasher.combine(group)
        case .within(let scope, let name):
            hasher.combine(scope)
            hasher.combine(name)
        }
    }
}

extension ExclusionName: CustomStringConvertible {
    var description: String {
        switch self {
        case .text(let text): "‘\(text.singleLine)’"
        case .type(let type): String(describing: type)
        case .group(let group): "the width of \(group)"
        case .within(let scope, let name): "\(name)\(scope.suffix)"
        }
    }
}

/// In which order a sequence of outputs has them.
@nonexhaustive
public enum OutputOrder: Sendable, Hashable {
    /// That of the elements. A slow operation holds back the outputs of those after it, which count as not yet
    /// consumed.
    case preserved
    /// As they come.
    case arrival
}

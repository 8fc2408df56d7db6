extension Lifecycle {
    /// What an attempt leaves behind when another one follows.
    struct AttemptEnd {
        let wasCut: Bool
        /// No: it has left waits open that have lent its slot.
        let holdsSlot: Bool
        let holdsNames: Bool
        /// To be released after unlocking.
        let groups: [ChildGroup]
        let waits: Slab<Awaited?>
        let listeners: [any OutcomeListener]
        let progress: ProgressState?
    }
}

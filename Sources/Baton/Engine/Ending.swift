extension Lifecycle {
    /// What follows from a finish, for the one who has published it to do after unlocking.
    struct Ending {
        let dependents: DependentList
        let isCancelled: Bool
        private(set) var hasDetails = false
        /// Somebody waits for it, or it holds something for its life only.
        private(set) var wakes = false
        /// It holds names, or has asked for them.
        private(set) var claims = false
        /// Waits of the body that outlive it: its worker holds no slot.
        private(set) var hasOpenWaits = false

        @inline(__always)
        mutating func note(_ details: Details) {
            hasDetails = true
            wakes = details.hasEnd
            claims = details.rules.standing != .asksForNone
            hasOpenWaits = details.openWaits > 0
        }
    }
}

/// How operations come into the hands of lanes, and back.
///
/// Under the lock of a queue two lanes with short bodies spend more time on one another's cache lines than on their operations.
/// A hand makes it one lock for many of them. Hands are out only while nothing comes before what is in them, which is looked at
/// after every change of the queue; so all that are out are of one priority.
extension QueueCore.State {
    /// What the lane does next, with more of the same in its hand.
    @inline(__always)
    mutating func deal(to hand: Hand) -> Scheduler.Turn {
        let turn = turn { $0.nextTurn() }
        if hand.reach > 1, scheduler.width > 1, case .run(let first) = turn { deal(to: hand, after: first) }
        return turn
    }

    @inline(never)
    private mutating func deal(to hand: Hand, after first: Unmanaged<AnyOperation>) {
        let level = first._withUnsafeGuaranteedRef { $0.level }
        guard scheduler.allowsHands(at: level), admission.isEmpty, let second = scheduler.popReady(at: level)
        else { return }
        hand.clear()
        hand.append(second)
        while hand.count + 1 < hand.reach, let next = scheduler.popReady(at: level) { hand.append(next) }
        hand.open()
        hands.append(hand, of: level)
        scheduler.note(hands)
    }

    /// The lane goes on with this, which what it has run made ready: what it runs from here on can leave by its hand.
    @inline(never)
    mutating func goOn(with follower: Unmanaged<AnyOperation>, _ hand: Hand) {
        if let position = hand.close() {
            for place in hand.placesLeft(at: position) { roster.leave(place: place) }
            hand.goOn(from: position)
            return
        }
        let level = follower._withUnsafeGuaranteedRef { $0.level }
        guard scheduler.allowsHands(at: level), admission.isEmpty, hands.isEmpty || hands.level == level else { return }
        hand.clear()
        hand.open()
        hands.append(hand, of: level)
    }

    /// The lane's own, before it asks for more. See ``Hand/giveBack(isPlain:isNeeded:)``.
    @inline(__always)
    mutating func takeBack(own hand: Hand, isPlain: Bool) {
        let isNeeded = hand.isOut && takeBack(hand)
        hand.giveBack(isPlain: isPlain, isNeeded: isNeeded)
    }

    /// True: something was left in it, or somebody has closed it before.
    @discardableResult
    @inline(never)
    private mutating func takeBack(_ hand: Hand) -> Bool {
        guard let position = hand.close() else { return true }
        hands.remove(hand)
        for place in hand.placesLeft(at: position) { roster.leave(place: place) }
        for waiting in stride(from: hand.count - 1, through: position.next, by: -1) {
            scheduler.takeBack(hand[waiting], at: hands.level)
        }
        scheduler.note(hands)
        return position.next < hand.count
    }

    @inline(never)
    mutating func takeBackAll() {
        while let hand = hands.last { takeBack(hand) }
    }

    /// What the scheduler says a lane does next. What waits in the hands of others comes first if nothing else of its priority
    /// does, and if they are stuck; and none stays out beside those of a higher priority.
    @inline(__always)
    mutating func turn(_ ask: (inout Scheduler) -> Scheduler.Turn) -> Scheduler.Turn {
        if !hands.isEmpty { lookAtHands() }
        return ask(&scheduler)
    }

    @inline(never)
    private mutating func lookAtHands() {
        if let stuck = hands.findStuck() { takeBack(stuck) }
        while let hand = hands.last, scheduler.highestStartable != hands.level { takeBack(hand) }
    }

    /// One that has ended before its run leaves whatever list it is in. True: nobody else lets go of it.
    mutating func unlist(_ operation: AnyOperation) -> Bool {
        if operation.listing == .hand || operation.listing == .releasedHand { takeBackAll() }
        return scheduler.remove(.passUnretained(operation))
    }

    /// Those that have not left, retained.
    mutating func members() -> [AnyOperation] {
        takeBackAll()
        return roster.members()
    }

    /// As above, of those that have entered at these places.
    mutating func members(at places: [UInt32]) -> [AnyOperation] {
        takeBackAll()
        return roster.members(at: places)
    }

    /// How many there are.
    mutating func count() -> Int {
        takeBackAll()
        return roster.count
    }
}

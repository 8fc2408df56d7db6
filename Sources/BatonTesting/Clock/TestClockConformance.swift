internal import Baton

/// What sleeps on it for a year wakes once.
extension TestClock: VirtualClock {}

internal import Baton

/// A timer on a virtual clock sleeps until its deadline, without waking in between.
extension TestClock: VirtualClock {}

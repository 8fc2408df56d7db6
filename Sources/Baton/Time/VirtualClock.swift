/// A clock that stands still until somebody moves it. Its sleeps are not taken in pieces: a wake in between would be
/// for nothing, and one more job of a schedule.
package protocol VirtualClock: Clock {}

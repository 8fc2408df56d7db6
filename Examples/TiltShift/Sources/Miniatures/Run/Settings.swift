package import Foundation

/// How a run goes about its work.
package struct Settings: Sendable {
    /// What the miniatures look like.
    package var recipe = Recipe()
    /// Where they go.
    package var folder = URL(fileURLWithPath: "miniatures")
    /// How many pictures are worked with at the same time. One more is fetched meanwhile.
    package var jobs = 2
    /// How often a download is tried again.
    package var retries = 3
    /// How long one attempt of a download may take.
    package var timeout = Duration.seconds(30)
    /// Where the key for encrypted pictures is.
    package var keyFile: URL?
    /// Whether to make again what is up to date, and to replace what somebody else has made.
    package var isForced = false
    /// Whether to find out only what there is to do.
    package var isRehearsal = false
    /// Whether to keep small pictures from before and after.
    package var hasThumbnails = false

    package init() {}
}

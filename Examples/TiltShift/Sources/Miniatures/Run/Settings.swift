package import Foundation

/// The settings of a run.
package struct Settings: Sendable {
    /// The parameters of the miniatures.
    package var recipe = Recipe()
    /// The folder of the miniatures.
    package var folder = URL(fileURLWithPath: "miniatures")
    /// The number of pictures that are processed at a time. One more is fetched meanwhile.
    package var jobs = 2
    /// The number of times that a download is retried.
    package var retries = 3
    /// The time limit of one attempt of a download.
    package var timeout = Duration.seconds(30)
    /// The file with the key for encrypted pictures.
    package var keyFile: URL?
    /// True if miniatures are made even if they are up to date, and replace files that this program has not made.
    package var isForced = false
    /// True if the run only determines which miniatures are out of date.
    package var isRehearsal = false
    /// True if thumbnails of the pictures and the miniatures are kept.
    package var hasThumbnails = false

    package init() {}
}

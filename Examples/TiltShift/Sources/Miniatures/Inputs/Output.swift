package import Foundation

/// Where a miniature goes.
package struct Output: Sendable, Hashable {
    package let file: URL

    /// Gives each source a file of its own: those whose names are the same get numbers, in their order.
    ///
    /// The same source gets the same file, however often it is named. Upper and lower case make no difference, because
    /// there are file systems for which they do not.
    static func each(of sources: [Source], in folder: URL, as format: PictureFormat) -> [Output] {
        var taken: Set<String> = []
        var known: [String: Output] = [:]
        return sources.map { source in
            if let output = known[source.identity] { return output }
            var (name, number) = (source.stem, 1)
            while !taken.insert(name.lowercased()).inserted {
                number += 1
                name = "\(source.stem)-\(number)"
            }
            let output = Output(file: folder.appendingPathComponent("\(name).\(format.fileExtension)"))
            known[source.identity] = output
            return output
        }
    }
}

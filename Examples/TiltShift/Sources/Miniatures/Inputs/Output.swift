package import Foundation

/// The file of a miniature.
package struct Output: Sendable, Hashable {
    package let file: URL

    /// Returns a file for each source. Sources with equal names get numbers, in order.
    ///
    /// A source that is named several times gets the same file each time. Case is ignored, because some file systems
    /// ignore it.
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

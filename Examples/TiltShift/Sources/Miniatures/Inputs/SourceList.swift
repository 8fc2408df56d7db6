internal import Foundation

/// The pictures that were named, individually or by their folders.
package struct SourceList: Sendable {
    /// The pictures in the order in which they were named. Those of a folder are sorted by name.
    package private(set) var sources: [Source] = []
    /// The arguments that have no pictures, with the reasons.
    package private(set) var problems: [(name: String, why: String)] = []

    /// Reads folders, but not their subfolders, and ignores files in them whose extensions are not those of pictures.
    package init(_ arguments: [String]) {
        for argument in arguments {
            let source = Source(argument)
            guard case .file(let url) = source.place, url.isFolder else {
                sources.append(source)
                continue
            }
            do {
                let found = try Self.pictures(in: url)
                sources += found
                if found.isEmpty { problems.append((argument, "has no pictures in it")) }
            } catch {
                problems.append((argument, "\(FileError.notRead(error.reason))"))
            }
        }
    }

    private static func pictures(in folder: URL) throws -> [Source] {
        try FileManager.default
            .contentsOfDirectory(at: folder, includingPropertiesForKeys: nil, options: .skipsHiddenFiles)
            .sorted { $0.lastPathComponent < $1.lastPathComponent }
            .filter { !$0.isFolder && $0.looksLikeAPicture }
            .map(Source.init(file:))
    }
}

extension URL {
    fileprivate var isFolder: Bool {
        var isFolder: ObjCBool = false
        return FileManager.default.fileExists(atPath: path, isDirectory: &isFolder) && isFolder.boolValue
    }

    fileprivate var looksLikeAPicture: Bool {
        let clear = pathExtension.lowercased() == SecretFile.fileExtension ? deletingPathExtension() : self
        return PictureFormat.readableExtensions.contains(clear.pathExtension.lowercased())
    }
}

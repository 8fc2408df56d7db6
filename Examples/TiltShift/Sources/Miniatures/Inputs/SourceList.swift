internal import Foundation

/// The pictures that somebody has named, one by one or by their folder.
package struct SourceList: Sendable {
    /// In the order in which they were named; those of a folder by name.
    package private(set) var sources: [Source] = []
    /// What was named and has no pictures, and why.
    package private(set) var problems: [(name: String, why: String)] = []

    /// Looks into folders, not into the folders in them, and at names: files of other kinds there are left alone.
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

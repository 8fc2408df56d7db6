import Foundation

/// A folder for the files of a test. It is removed when the object is released.
final class Folder: Sendable {
    let path: String

    init() throws {
        let url = FileManager.default.temporaryDirectory.appendingPathComponent("baton-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true)
        path = url.resolvingSymlinksInPath().path
    }

    deinit { try? FileManager.default.removeItem(atPath: path) }

    func file(_ name: String) -> String { "\(path)/\(name)" }

    func write(_ text: String, to name: String, rights: Int = 0o644) throws -> String {
        let file = file(name)
        try Data(text.utf8).write(to: URL(fileURLWithPath: file))
        try FileManager.default.setAttributes([.posixPermissions: rights], ofItemAtPath: file)
        return file
    }

    func read(_ name: String) -> String? { try? String(contentsOfFile: file(name), encoding: .utf8) }

    func rights(of name: String) -> Int? {
        (try? FileManager.default.attributesOfItem(atPath: file(name)))?[.posixPermissions] as? Int
    }

    func ownerAndGroup(of name: String) -> [Int?] {
        let attributes = try? FileManager.default.attributesOfItem(atPath: file(name))
        return [attributes?[.ownerAccountID] as? Int, attributes?[.groupOwnerAccountID] as? Int]
    }

    var names: [String] { ((try? FileManager.default.contentsOfDirectory(atPath: path)) ?? []).sorted() }
}

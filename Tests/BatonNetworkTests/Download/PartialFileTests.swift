import Foundation
import Testing

@testable import BatonNetwork

struct PartialFileTests {
    private let folder: TestFolder

    init() throws { folder = try TestFolder() }

    @Test("One run at a time has the partial file")
    func oneRunAtATimeHasIt() throws {
        let first = try #require(try PartialFile.open(for: folder.file("file")))
        #expect(try PartialFile.open(for: folder.file("file")) == nil)
        first.close()
        let second = try #require(try PartialFile.open(for: folder.file("file")))
        second.close()
    }

    /// A child process that is being started has such a copy until it calls `exec`.
    @Test("A partial file that was closed is free, although a copy of its descriptor is open")
    func itIsFreeWhileACopyOfItsDescriptorIsOpen() throws {
        let first = try #require(try PartialFile.open(for: folder.file("file")))
        let copy = dup(first.file.descriptor)
        defer { close(copy) }
        first.close()
        let second = try #require(try PartialFile.open(for: folder.file("file")))
        second.close()
    }

    /// A download that opens the file just after it got its final name begins a new partial file.
    @Test("A partial file that was finished is not opened again")
    func oneThatHasBeenFinishedIsNotFound() throws {
        let first = try #require(try PartialFile.open(for: folder.file("file")))
        try first.file.write(Data("all of it".utf8))
        try first.finish(synchronizing: false)
        let second = try #require(try PartialFile.open(for: folder.file("file")))
        #expect(try second.count == 0)
        second.discard()
        second.close()
        first.close()
        #expect(folder.names == ["file"])
        #expect(folder.content("file") == Data("all of it".utf8))
    }

    // MARK: Origins

    private let origin = PartialFile.Origin(url: "u", validator: "\"tag\"", length: 100)

    @Test func theNoteIsForItsOwnerAlone() throws {
        let partial = try #require(try PartialFile.open(for: folder.file("file")))
        defer { partial.close() }
        // A note that other users may read is replaced.
        try Data("old".utf8).write(to: folder.file(".file.origin"))
        try partial.restart(origin)
        #expect(partial.origin == origin)
        let attributes = try FileManager.default.attributesOfItem(atPath: partial.originPath)
        #expect(attributes[.posixPermissions] as? Int == 0o600)
    }

    @Test func aLinkInPlaceOfTheNoteIsNeitherReadNorWrittenThrough() throws {
        let partial = try #require(try PartialFile.open(for: folder.file("file")))
        defer { partial.close() }
        try partial.restart(origin)
        try FileManager.default.moveItem(at: folder.file(".file.origin"), to: folder.file("victim"))
        let note = folder.content("victim")
        try FileManager.default.createSymbolicLink(
            at: folder.file(".file.origin"), withDestinationURL: folder.file("victim"))
        #expect(partial.origin == nil)
        try partial.restart(PartialFile.Origin(url: "other", validator: "\"other\"", length: nil))
        #expect(partial.origin?.url == "other")
        #expect(folder.content("victim") == note)
    }

    @Test func aPipeInPlaceOfTheNoteStopsNobody() throws {
        let partial = try #require(try PartialFile.open(for: folder.file("file")))
        defer { partial.close() }
        #expect(mkfifo(partial.originPath, 0o600) == 0)
        #expect(partial.origin == nil)
        try partial.restart(origin)
        #expect(partial.origin == origin)
    }

    @Test func addressesAreToldApartWithoutTheirSecrets() throws {
        let texts = [
            "http://host/file", "http://host/file?token=a", "http://host/file?token=b", "http://me@host/file",
            "http://me:secret@host/file", "http://you:secret@host/file", "http://host/other", "https://host/file",
        ]
        let marks = try texts.map { PartialFile.Origin.mark(of: try #require(URL(string: $0))) }
        #expect(Set(marks).count == texts.count)
        for mark in marks { #expect(!["token", "secret", "me", "you"].contains { mark.contains($0) }) }
        // The mark is written by one process and read by another, so it must not depend on a seed of the process.
        #expect(marks[1] == "http://host/file a8031d9187effb44")
    }

    /// Every write to this device fails with `ENOSPC`.
    @Test(.enabled(if: FileManager.default.fileExists(atPath: "/dev/full"))) func aFullDiskIsSaidToBeFull() throws {
        let file = try File.open("/dev/full", O_WRONLY | O_CLOEXEC)
        defer { file.close() }
        let error = #expect(throws: FileError.self) { try file.write(Data("x".utf8)) }
        #expect(error?.problem == .diskFull)
    }

    /// The file may be truncated between the check of its size and the read.
    @Test("A file that has become shorter than its known size has changed")
    func aFileThatEndsInARead() throws {
        let folder = try TestFolder()
        try Data(count: 100).write(to: folder.file("file"))
        let file = try File.openReadable(folder.file("file").path)
        defer { file.close() }
        #expect(try file.read(100, at: 0).count == 100)
        let error = #expect(throws: FileError.self) { try file.read(101, at: 0) }
        #expect(error?.problem == .changed)
        #expect(error?.path == folder.file("file").path)
    }
}

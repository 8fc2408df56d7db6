import Foundation
import Testing

@testable import BatonNetwork

struct PartialFileTests {
    private let folder: TestFolder

    init() throws { folder = try TestFolder() }

    @Test func oneRunAtATimeHasIt() throws {
        let first = try #require(try PartialFile.open(for: folder.file("file")))
        #expect(try PartialFile.open(for: folder.file("file")) == nil)
        first.close()
        let second = try #require(try PartialFile.open(for: folder.file("file")))
        second.close()
    }

    /// As a child has that is just being started.
    @Test func itIsFreeWhileACopyOfItsDescriptorIsOpen() throws {
        let first = try #require(try PartialFile.open(for: folder.file("file")))
        let copy = dup(first.file.descriptor)
        defer { close(copy) }
        first.close()
        let second = try #require(try PartialFile.open(for: folder.file("file")))
        second.close()
    }

    /// Who comes when it has just got its final name begins a new one.
    @Test func oneThatHasBeenFinishedIsNotFound() throws {
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
}

import Foundation
import Testing

@testable import Miniatures

/// Tests of encryption.
@Suite struct SecretFileTests {
    /// Sizes of files, including those at the boundaries of chunks.
    private static let sizes = [0, 1, 65_535, 65_536, 65_537, 131_072, 200_000]

    private func bytes(_ count: Int) -> Data { Data((0..<count).map { UInt8(truncatingIfNeeded: $0 * 7 + $0 >> 8) }) }

    @Test(arguments: sizes) func whatIsSealedCanBeOpened(size: Int) throws {
        let key = try SecretKey.random()
        let sealed = try SecretFile.sealed(bytes(size), with: key)
        #expect(try SecretFile.opened(sealed, with: key) == bytes(size))
        // A slice, whose indices do not begin at 0, can be decrypted as well.
        #expect(try SecretFile.opened((Data([1, 2, 3]) + sealed).dropFirst(3), with: key) == bytes(size))
        #expect(try SecretFile.sealed(bytes(size), with: key) != sealed)
        #expect(throws: SecretError.wrongKey) { try SecretFile.opened(sealed, with: .random()) }
    }

    @Test(arguments: sizes) func everyChangeIsNoticed(size: Int) throws {
        let key = try SecretKey.random()
        let sealed = try SecretFile.sealed(bytes(size), with: key)
        let front = 19 + 16
        for index in [front, front + 23, front + 24, sealed.count / 2, sealed.count - 1] where index >= front {
            var changed = sealed
            changed[index] ^= 0x80
            #expect(throws: SecretError.tampered) { try SecretFile.opened(changed, with: key) }
        }
        #expect(throws: SecretError.tampered) { try SecretFile.opened(sealed + [0], with: key) }
    }

    @Test func aFileThatEndsBetweenTwoChunksIsNoticed() throws {
        let key = try SecretKey.random()
        let sealed = try SecretFile.sealed(bytes(200_000), with: key)
        let start = 19 + 16 + 24
        for chunks in 0...3 {
            #expect(throws: SecretError.tampered) {
                try SecretFile.opened(sealed.prefix(start + chunks * (65_536 + 17)), with: key)
            }
        }
        // Swaps two chunks.
        let first = sealed[start..<start + 65_553]
        let second = sealed[start + 65_553..<start + 2 * 65_553]
        let swapped = sealed.prefix(start) + second + first + sealed.dropFirst(start + 2 * 65_553)
        #expect(throws: SecretError.tampered) { try SecretFile.opened(swapped, with: key) }
    }

    @Test func keysAreHexadecimalDigits() throws {
        let key = try SecretKey.random()
        #expect(key.hexadecimal.count == 64)
        #expect(SecretKey(hexadecimal: " \(key.hexadecimal.uppercased())\n") == key)
        for text in ["", "00", String(repeating: "g", count: 64), String(repeating: "0", count: 65), "é"] {
            #expect(SecretKey(hexadecimal: text) == nil)
        }
    }

    @Test func aKeyFileIsNeverReplaced() throws {
        let workshop = try Workshop()
        let file = workshop.file("key")
        let key = try SecretKey.random()
        try key.write(to: file)
        #expect(throws: (any Error).self) { try SecretKey.random().write(to: file) }
        #expect(try SecretKey(file: file) == key)
    }
}

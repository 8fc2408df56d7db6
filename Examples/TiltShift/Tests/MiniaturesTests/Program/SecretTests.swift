import Foundation
import Testing

/// Tests of encrypted pictures.
@Suite struct SecretTests {
    /// Makes a folder with two encrypted pictures and their key.
    private func workshop() async throws -> Workshop {
        let workshop = try Workshop()
        try workshop.write(TestPicture.tiff(width: 300, height: 200), to: "a.tif")
        try workshop.write(TestPicture.tiff(), to: "b.tif")
        let run = try await workshop.run("encrypt", "--key", "key", "--out", "secret", "a.tif", "b.tif")
        #expect(run.status == 0, "\(run)")
        #expect(run.outputLines == ["a.tif → secret/a.tif.enc", "b.tif → secret/b.tif.enc"])
        #expect(run.errors.contains("a new key is in key"))
        return workshop
    }

    @Test func whatWasEncryptedIsDecryptedWithItsKey() async throws {
        let workshop = try await workshop()
        let mode =
            try FileManager.default.attributesOfItem(atPath: workshop.file("key").path)[.posixPermissions] as? Int
        #expect(mode == 0o600)
        let run = try await workshop.run("--key", "key", "secret", "--json")
        #expect(run.status == 0, "\(run)")
        #expect(run.output.contains("\"decrypt\""))
        #expect(workshop.names() == ["a.jpg", "b.jpg"])
    }

    @Test func wrongKeysAndTamperedFilesAreToldApartAndFailAlone() async throws {
        let workshop = try await workshop()
        let good = try Data(contentsOf: workshop.file("secret/a.tif.enc"))
        var tampered = good
        tampered[good.count / 2] ^= 1
        try workshop.write(tampered, to: "tampered.tif.enc")
        try workshop.write(good.dropLast(), to: "cut.tif.enc")
        try workshop.write(good + Data([0]), to: "longer.tif.enc")
        try workshop.write(TestPicture.tiff(), to: "clear.tif.enc")
        try workshop.write(Data(), to: "nothing.tif.enc")
        _ = try await workshop.run("encrypt", "--key", "other", "b.tif")

        let run = try await workshop.run(
            "--key", "key", "tampered.tif.enc", "cut.tif.enc", "longer.tif.enc", "clear.tif.enc", "nothing.tif.enc",
            "b.tif.enc",
            "secret/a.tif.enc")
        #expect(run.status == 1)
        #expect(
            run.outputLines.prefix(6) == [
                "tampered.tif.enc: was changed or cut short after it had been encrypted",
                "cut.tif.enc: was changed or cut short after it had been encrypted",
                "longer.tif.enc: was changed or cut short after it had been encrypted",
                "clear.tif.enc: is called .enc, and was not encrypted by ‘tiltshift encrypt’",
                "nothing.tif.enc: is called .enc, and was not encrypted by ‘tiltshift encrypt’",
                "b.tif.enc: was encrypted with another key",
            ])
        #expect(workshop.names() == ["a.jpg"])
    }

    @Test func aKeyThatIsMissingFailsWhatNeedsIt() async throws {
        let workshop = try await workshop()
        try workshop.write(Data("no key".utf8), to: "words")
        #expect(
            try await workshop.run("secret/a.tif.enc", "b.tif").outputLines.first
                == "a.tif.enc: is encrypted: say where its key is with --key")
        #expect(try await workshop.run("--key", "words", "secret/a.tif.enc").output.contains("words holds none"))
        #expect(
            try await workshop.run("--key", "nokey", "secret/a.tif.enc").outputLines.first
                == "a.tif.enc: needs a key, and nokey cannot be read: No such file or directory")
        #expect(workshop.names() == ["b.jpg"])
    }

    @Test func encryptFailsAloneToo() async throws {
        let workshop = try await workshop()
        let run = try await workshop.run("encrypt", "--key", "key", "missing.tif", "b.tif")
        #expect(run.status == 1)
        #expect(run.errorLines == ["tiltshift: missing.tif: cannot be read: No such file or directory"])
        #expect(workshop.names(in: ".").contains("b.tif.enc"))
    }

    @Test func encryptReplacesNothingThatItWasNotToldTo() async throws {
        let workshop = try await workshop()
        let before = try Data(contentsOf: workshop.file("secret/a.tif.enc"))
        try workshop.write(TestPicture.tiff(), to: "other/a.tif")
        let run = try await workshop.run("encrypt", "--key", "key", "--out", "secret", "a.tif")
        #expect(run.status == 1)
        #expect(run.errorLines == ["tiltshift: a.tif: secret/a.tif.enc is there already: use --force or another --out"])
        #expect(try Data(contentsOf: workshop.file("secret/a.tif.enc")) == before)
        // The command does not even replace a file that it has just written itself.
        let two = try await workshop.run(
            "encrypt", "--force", "--key", "key", "--out", "secret", "a.tif", "other/a.tif")
        #expect(two.status == 1)
        #expect(two.outputLines == ["a.tif → secret/a.tif.enc"])
    }
}

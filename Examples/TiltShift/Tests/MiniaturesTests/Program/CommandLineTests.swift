import Testing

/// Tests of command lines and their output.
@Suite struct CommandLineTests {
    @Test func helpAndVersionAreShown() async throws {
        let workshop = try Workshop()
        let help = try await workshop.run("--help")
        #expect(help.status == 0)
        #expect(help.output.hasPrefix("usage: tiltshift [options]"))
        for option in ["out", "focus", "band", "blur", "saturation", "format", "quality", "jobs", "retries", "timeout"]
        {
            #expect(help.output.contains("--\(option) "))
        }
        let version = try await workshop.run("--version")
        #expect(version.status == 0)
        #expect(version.output.hasPrefix("tiltshift "))
    }

    @Test(arguments: [
        (["--blurr", "2", "a.jpg"], "--blurr is not an option"),
        (["--blur"], "--blur needs a value"),
        (["--blur", "much", "a.jpg"], "--blur needs a number from 0 to 10, not ‘much’"),
        (["--blur", "nan", "a.jpg"], "--blur needs a number"),
        (["--focus", "101", "a.jpg"], "--focus needs a number from 0 to 100"),
        (["--jobs", "0", "a.jpg"], "--jobs needs a whole number from 1 to 256, not ‘0’"),
        (["--jobs", "1.5", "a.jpg"], "--jobs needs a whole number"),
        (["--quality", "101", "a.jpg"], "--quality needs a whole number from 1 to 100"),
        (["--timeout", "0", "a.jpg"], "--timeout needs a number"),
        (["--format", "gif", "a.jpg"], "--format needs jpeg, png or webp, not ‘gif’"),
        (["--graph", "graph.pdf", "a.jpg"], "--graph needs a file that ends with .dot, .mmd or .svg"),
        (["--out", "", "a.jpg"], "--out needs the name of a file or folder"),
        (["--force=yes", "a.jpg"], "--force=yes is not an option"),
        (["--fo", "a.jpg"], "--fo is not an option, or could be several"),
        ([], "no pictures"),
        ([""], "the name of a picture is empty"),
        (["encrypt", "a.jpg"], "‘encrypt’ needs --key FILE"),
        (["encrypt", "--key", "key"], "nothing to encrypt"),
    ])
    func badOptionsGetAHintAndStatus2(arguments: [String], text: String) async throws {
        let run = try await Workshop().run(arguments)
        #expect(run.status == 2)
        #expect(run.output.isEmpty)
        #expect(run.errors.contains(text), "\(run.errors)")
        #expect(run.errors.contains("Try ‘tiltshift --help’"))
    }

    @Test func optionsMayStandAnywhereAndFilesMayBeginWithADash() async throws {
        let workshop = try Workshop()
        try workshop.write(TestPicture.tiff(), to: "-odd.tif")
        try workshop.write(TestPicture.tiff(), to: "even.tif")
        let run = try await workshop.run("even.tif", "--out=there", "--sat", "0", "--", "-odd.tif")
        #expect(run.status == 0, "\(run)")
        #expect(workshop.names(in: "there") == ["-odd.jpg", "even.jpg"])
    }

    @Test func quietSaysNothingButFailures() async throws {
        let workshop = try Workshop()
        try workshop.write(TestPicture.tiff(), to: "a.tif")
        let good = try await workshop.run("--quiet", "a.tif")
        #expect(good.status == 0 && good.output.isEmpty && good.errors.isEmpty, "\(good)")
        let bad = try await workshop.run("--quiet", "b.tif")
        #expect(bad.status == 1 && bad.output.isEmpty)
        #expect(bad.errorLines == ["tiltshift: b.tif: cannot be read: No such file or directory"])
    }

    @Test func aDryRunSaysWhatThereIsToDoAndDoesNothing() async throws {
        let workshop = try Workshop()
        try workshop.write(TestPicture.tiff(), to: "a.tif")
        try workshop.write(TestPicture.tiff(), to: "b.tif")
        _ = try await workshop.run("a.tif")
        let run = try await workshop.run("--dry-run", "a.tif", "b.tif")
        #expect(run.status == 0)
        #expect(run.outputLines.prefix(2) == ["a.tif: is up to date", "b.tif → miniatures/b.jpg"])
        #expect(run.output.contains("1 to make, 1 up to date"))
        #expect(workshop.names() == ["a.jpg"])
    }
}

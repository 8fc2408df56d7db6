import Baton
import BatonProcess
import BatonTesting
import Foundation
import Testing

@Suite("Programs behave as in a shell")
struct ProgramTests {
    /// The lines that a closure has received.
    private final class Lines: Sendable {
        private let state = Guarded<[String]>([])

        var all: [String] { state.withLock { $0 } }

        func note(_ line: String) { state.withLock { $0.append(line) } }
    }

    // MARK: Lines

    @Test(
        "The lines before a line that is too long are delivered",
        arguments: ["printf 'one\\ntwo\\nxxxxxxxxxxxxxxxxxxxx'", "printf 'one\\ntwo\\nxxxxxxxxxxxxxxxxxxxx\\nfour\\n'"])
    func linesBeforeTooLongOne(script: String) async throws {
        let lines = Lines()
        let program = Subprocess.shell(script, output: .lines(longest: 10) { lines.note($0) })
        #expect(await program.failure() == .lineTooLong(program: "/bin/sh", limit: 10))
        #expect(lines.all == ["one", "two"])
        let errors = Lines()
        let other = Subprocess.shell("(\(script)) >&2", errors: .lines(longest: 10) { errors.note($0) })
        #expect(await other.failure() == .lineTooLong(program: "/bin/sh", limit: 10))
        #expect(errors.all == ["one", "two"])
    }

    @Test("A carriage return and a newline do not count toward the length of a line")
    func carriageReturnDoesNotCount() async throws {
        let lines = Lines()
        let program = Subprocess.shell(
            "printf '0123456789\\r\\n0123456789\\n0123456789'", output: .lines(longest: 10) { lines.note($0) })
        _ = try await program.result()
        #expect(lines.all == ["0123456789", "0123456789", "0123456789"])
    }

    // MARK: Files

    @Test(
        "A dangling link is kept, and the file is made at its target",
        arguments: ["target", "./target", "other", "folder/../target", "absolute"])
    func danglingLinkStays(leadsTo: String) async throws {
        let folder = try TemporaryFolder()
        try folder.makeFolder("folder")
        try folder.link("other", to: "folder/inner")
        let destination = leadsTo == "absolute" ? folder.path("target") : leadsTo
        try folder.link("link", to: destination)
        for text in ["one", "two"] {
            _ = try await Subprocess.shell("echo \(text)", output: .file(folder.path("link"))).result()
            #expect(folder.read(leadsTo == "other" ? "folder/inner" : "target") == "\(text)\n")
            #expect(folder.target(of: "link") == destination)
        }
        #expect(folder.names.allSatisfy { !$0.hasSuffix(".partial") })
    }

    @Test("A link to itself and a link into a missing folder are errors, and are kept")
    func linksWithoutEnd() async throws {
        let folder = try TemporaryFolder()
        try folder.link("loop", to: "loop")
        try folder.link("away", to: "missing/file")
        for name in ["loop", "away"] {
            let failure = await Subprocess.shell("echo", output: .file(folder.path(name))).failure()
            guard case .fileNotUsable? = failure else {
                Issue.record("\(String(describing: failure))")
                continue
            }
        }
        #expect(folder.names == ["away", "loop"])
    }

    // MARK: Starting

    @Test(
        "The error of a file that cannot be run describes the fault of the file",
        arguments: [
            ("#!/no/such/interpreter\n", "‘/no/such/interpreter’"),
            ("#! /no/such/interpreter -x\n", "‘/no/such/interpreter’"),
            ("#!/bin/sh\r\necho\r\n", "carriage return"), ("#!\n", "no interpreter"), ("echo hello\n", "‘#!’"),
            ("\u{FEFF}#!/bin/sh\necho\n", "byte order mark"), ("", "empty"), ("#!/tmp\n", "‘/tmp’"),
        ])
    func unsuitableFiles(content: String, hint: String) async throws {
        let folder = try TemporaryFolder()
        try await folder.makeProgram("tool", content)
        for program in [
            Subprocess(folder.path("tool")), Subprocess("./tool", directory: folder.path),
            Subprocess("tool", environment: .custom(["PATH": folder.path])),
        ] {
            let failure = await program.failure()
            guard case .notStarted? = failure else {
                Issue.record("\(String(describing: failure))")
                continue
            }
            #expect("\(failure!)".contains(hint), "\(failure!)")
        }
    }

    @Test("The error of a file without execute permission says so")
    func fileWithoutTheRight() async throws {
        let folder = try TemporaryFolder()
        try await folder.makeProgram("tool", "#!/bin/sh\n", rights: "644")
        for program in [
            Subprocess(folder.path("tool")), Subprocess("tool", environment: .custom(["PATH": folder.path])),
        ] {
            #expect("\(String(describing: await program.failure()))".contains("may not be run"))
        }
        #expect("\(String(describing: await Subprocess("/tmp").failure()))".contains("directory"))
    }

    #if os(Linux)
        @Test("A program has a session of its own, so that it cannot wait at the terminal of this process")
        func sessionOfItsOwn() async throws {
            let text = try await Subprocess.shell("echo $$; cut -d ' ' -f 5,6 /proc/$$/stat").result().text
            let numbers = text.split(whereSeparator: \.isWhitespace)
            #expect(numbers.count == 3 && Set(numbers).count == 1, "\(text)")
        }

    #endif

    // MARK: The end of this process

    @Test(
        "When this process ends, its programs with their children end, and their drafts are removed",
        arguments: [SIGKILL, SIGTERM, SIGINT, SIGABRT, 0])
    func endOfThisProcess(signal: Int32) async throws {
        let folder = try TemporaryFolder()
        let path = folder.path("")
        _ = await #expect(processExitsWith: signal == 0 ? .exitCode(0) : .signal(signal)) {
            [path = path as String, signal = signal as Int32] in
            let queue = AsyncOperationQueue()
            let running = EventLog<String>()
            for number in 1...3 {
                let script = "trap '' INT; sleep 1000 & echo $$ $! > \(path)pids\(number); echo >&2; wait"
                let program = Subprocess.shell(
                    script, output: .file("\(path)output\(number)"), errors: .lines { running($0) })
                queue.add(AsyncOperation(program))
            }
            await running.waitForCount(3)
            // Programs are started one after another, so by now the watchdog knows the three programs.
            _ = try await Subprocess("true").result()
            if signal == 0 { exit(0) }
            kill(getpid(), signal)
            await queue.waitUntilIdle()
        }
        let pids = (1...3).flatMap { number in
            folder.read("pids\(number)")?.split(whereSeparator: \.isWhitespace).compactMap { Int32($0) } ?? []
        }
        #expect(pids.count == 6)
        try await waitUntil {
            !pids.contains { isAlive($0) } && !folder.names.contains { $0.hasSuffix(".partial") }
        }
        #expect(folder.names == ["pids1", "pids2", "pids3"])
    }

    @Test("Children that an ended program has left survive the end of this process")
    func childrenThatAreLeftBehind() async throws {
        let folder = try TemporaryFolder()
        let path = folder.path("")
        _ = await #expect(processExitsWith: .exitCode(0)) { [path = path as String] in
            _ = try await Subprocess.shell("sleep 1000 & echo $! > \(path)left").result()
            let running = EventLog<String>()
            let script = "echo $$ > \(path)runs; echo; exec sleep 1000"
            AsyncOperationQueue.shared.add(
                AsyncOperation(Subprocess.shell(script, output: .lines { running($0) })))
            await running.waitForCount(1)
            _ = try await Subprocess("true").result()
            exit(0)
        }
        let runs = try #require(folder.read("runs").flatMap { Int32($0.dropLast()) })
        try await waitUntil { !isAlive(runs) }
        let left = try #require(folder.read("left").flatMap { Int32($0.dropLast()) })
        #expect(isAlive(left))
        kill(left, SIGKILL)
    }

    // MARK: Descriptors

    #if os(Linux)
        @Test("If descriptors run out, programs run one after another")
        func moreProgramsThanDescriptors() async {
            await #expect(processExitsWith: .success) {
                _ = try await Subprocess("true").result()
                limitDescriptors(toFree: 45)
                let queue = AsyncOperationQueue(maxConcurrentOperationCount: AsyncOperationQueue.unlimited)
                let programs = (0..<150).map { number in
                    AsyncOperation(Subprocess("cat", input: .text("\(number)"), errors: .collected()))
                }
                queue.add(programs)
                for (number, program) in programs.enumerated() {
                    let text = try await within { try await program.value.text }
                    precondition(text == "\(number)")
                }
            }
        }

        @Test("If descriptors run out, pipelines finish, with a hint if they fail")
        func morePipelinesThanDescriptors() async {
            await #expect(processExitsWith: .success) {
                _ = try await Subprocess("true").result()
                limitDescriptors(toFree: 45)
                let queue = AsyncOperationQueue(maxConcurrentOperationCount: AsyncOperationQueue.unlimited)
                let pipelines = (0..<60).map { number in
                    SubprocessPipeline(
                        Subprocess("yes"), Subprocess("cat"), Subprocess("head", arguments: ["-n", "1"])
                    )
                    .operations()
                }
                // The writing programs are added first, so that no pipeline can end by itself.
                for place in 0..<3 { queue.add(pipelines.map { $0[place] }) }
                try await within {
                    for operation in pipelines.joined() {
                        _ = try? await operation.value
                        guard let error = operation.error else { continue }
                        precondition("\(error)".contains("ulimit") || "\(error)".contains("cancel"), "\(error)")
                    }
                }
                _ = try await Subprocess("true").result()
            }
        }

        @Test(
            "A program that waits for descriptors can be cancelled, and one that can get none fails with a hint")
        func waitingForDescriptors() async {
            await #expect(processExitsWith: .success) {
                let queue = AsyncOperationQueue(maxConcurrentOperationCount: AsyncOperationQueue.unlimited)
                let sleeps = (0..<30).map { _ in AsyncOperation(Subprocess("sleep", arguments: ["1000"])) }
                _ = try await Subprocess("true").result()
                limitDescriptors(toFree: 45)
                queue.add(sleeps)
                let last = AsyncOperation(Subprocess("true"))
                queue.add(last)
                // The last program waits at the end of the queue, whatever else runs.
                last.cancel()
                try await within { _ = try? await last.value }
                for sleep in sleeps { sleep.cancel() }
                try await within { for sleep in sleeps { _ = try? await sleep.value } }
                _ = try await Subprocess("true").result()
                limitDescriptors(toFree: 0)
                let failure = await Subprocess("true").failure()
                limitDescriptors(toFree: 45)
                precondition("\(failure!)".contains("ulimit -n"), "\(failure!)")
            }
        }
    #endif

    // MARK: Broken pipes

    @Test(
        "The status that a shell returns for a broken pipe is a success in a pipeline",
        arguments: ["yes; exit 141", "yes | cat; exit 141", "exit 141"])
    func statusOfABrokenPipe(script: String) async throws {
        let pipeline = SubprocessPipeline(Subprocess.shell(script), Subprocess("head", arguments: ["-n", "1"]))
        _ = try await AsyncOperationQueue().run(AsyncOperation(pipeline))
        #expect(await Subprocess.shell("exit 141").failure() != nil)
    }

    @Test("The brokenPipe of a program says which of its ends are a success")
    func brokenPipeOption() async throws {
        func run(_ script: String, _ option: BrokenPipe) async throws -> String {
            var first = Subprocess.shell(script)
            first.brokenPipe = option
            let pipeline = SubprocessPipeline(first, Subprocess("head", arguments: ["-n", "1"]))
            return try await AsyncOperationQueue().run(AsyncOperation(pipeline)).text
        }
        // The shell and its commands ignore the signal, so the loop ends at the first write that fails.
        let ignoring = "trap '' PIPE; while echo y; do :; done 2>/dev/null; exit 7"
        #expect(try await run(ignoring, .successWithAnyStatus) == "y\n")
        await #expect(throws: OperationError.self) { try await run(ignoring, .success) }
        await #expect(throws: OperationError.self) { try await run("exec yes", .failure) }
        #expect(try await run("exec yes", .success) == "y\n")
        // The program ends before its reader.
        await #expect(throws: OperationError.self) { try await run("exit 7", .successWithAnyStatus) }
    }
}

#if os(Linux)
    /// Sets the limit of open descriptors to the number at which so many can still be opened. This process may have
    /// inherited some from the one that runs the tests.
    private func limitDescriptors(toFree count: Int) {
        var number: Int32 = 0
        var free = 0
        while free < count {
            if fcntl(number, F_GETFD) == -1 { free += 1 }
            number += 1
        }
        var limit = rlimit()
        getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
        limit.rlim_cur = rlim_t(number)
        setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
    }
#endif

/// Returns true if the process runs. A zombie does not count.
private func isAlive(_ pid: Int32) -> Bool {
    #if os(Linux)
        guard let status = try? String(contentsOfFile: "/proc/\(pid)/stat", encoding: .utf8),
            let state = status.split(separator: ")").last?.split(separator: " ").first
        else { return false }
        return state != "Z" && state != "X"
    #else
        return kill(pid, 0) == 0
    #endif
}

extension Subprocess {
    static func shell(
        _ script: String, input: StandardInput = .none, output: StandardOutput = .collected(),
        errors: StandardError = .tail()
    ) -> Subprocess {
        Subprocess("/bin/sh", arguments: ["-c", script], input: input, output: output, errors: errors)
    }

    func result() async throws -> SubprocessResult { try await AsyncOperationQueue().run(AsyncOperation(self)) }

    /// Returns the error of a run, or nil if it succeeded or failed with an error of another type.
    func failure() async -> SubprocessError? {
        do {
            _ = try await result()
            return nil
        } catch { return (error as? OperationError)?.underlyingError as? SubprocessError }
    }
}

#if os(Linux)
    import Baton
    import BatonNetwork
    import BatonNetworkTesting
    import Foundation
    import FoundationNetworking
    import Testing

    /// Sends damaged responses, each derived from a number. None may crash the process, hang, or be accepted if the
    /// `curl` program does not accept it.
    ///
    /// `make fuzz` tries 20,000 responses instead of 1,000; `BATON_FUZZ_FIRST=5` begins with number 5.
    @Suite(.timeLimit(.minutes(30)), .serialized) struct ReplyFuzzTests {
        private static func number(_ name: String) -> Int? { getenv(name).flatMap { Int(String(cString: $0)) } }

        private static let count = number("BATON_FUZZ") ?? 1000
        private static let first = number("BATON_FUZZ_FIRST") ?? 0

        private let faults: FaultServer

        init() throws {
            faults = try FaultServer()
            faults.on("*") { request in
                let reply = MutatedReply(number: UInt64(request.path.dropFirst()) ?? 0)
                var steps: [FaultStep] = []
                var start = 0
                for cut in reply.cuts + [reply.bytes.count] {
                    if start > 0 { steps.append(.pause(.milliseconds(1))) }
                    if cut > start { steps.append(.send(Data(reply.bytes[start..<cut]))) }
                    start = cut
                }
                return FaultScript(steps + [.closeAfterReading])
            }
        }

        private enum Outcome: Hashable {
            case answer(status: Int, Data)
            case failure(HTTPError.Reason)
            /// An error that no request may end with.
            case other(String)

            var isAnswer: Bool { if case .answer = self { true } else { false } }
        }

        private func send(_ number: Int, _ transport: CurlTransport) async -> Outcome {
            let page = HTTPData(faults.url("/\(number)")).validation(.none).redirects(.none).timeout(.seconds(10))
            do {
                let answer = try await page.transport(transport).execute(in: OperationContext())
                return .answer(status: answer.status, answer.data)
            } catch let error as HTTPError {
                return .failure(error.reason)
            } catch {
                return .other("\(error)")
            }
        }

        @Test("A damaged response is an error, or what curl returns for it")
        func damagedAnswers() async throws {
            defer { faults.stop() }
            let answers = try await tryAll(CurlTransport())
            // The test is meaningless if all responses are refused or all are accepted.
            #expect(answers > Self.count / 5 && answers < Self.count)
        }

        @Test("Damaged responses leave no descriptor and no thread behind")
        func nothingIsLeft() async {
            await #expect(processExitsWith: .success) {
                func sendSome() async throws {
                    let tests = try ReplyFuzzTests()
                    let transport = CurlTransport()
                    for number in 0..<500 { _ = await tests.send(number, transport) }
                    tests.faults.stop()
                }
                try await sendSome()
                _ = try await server.log("settled")
                let before = Resources.now
                try await sendSome()
                try await Resources.waitUntil {
                    $0.descriptors <= before.descriptors && $0.threads <= before.threads
                }
            }
        }

        /// Returns the number of responses that were accepted.
        private func tryAll(_ transport: CurlTransport) async throws -> Int {
            var answers = 0
            for start in stride(from: Self.first, to: Self.first + Self.count, by: 200) {
                let numbers = start..<min(start + 200, Self.first + Self.count)
                let outcomes = await withTaskGroup(of: (Int, Outcome).self) { group in
                    for number in numbers { group.addTask { (number, await send(number, transport)) } }
                    return await group.reduce(into: [Int: Outcome]()) { $0[$1.0] = $1.1 }
                }
                let expected = try await Curl.outcomes(of: numbers, faults)
                for number in numbers {
                    var (outcome, curl) = (try #require(outcomes[number]), try #require(expected[number]))
                    if !isRight(outcome, curl) {
                        // Bytes that the server sends after a response may arrive when the connection is reused, so try
                        // again on a new one.
                        outcome = await send(number, CurlTransport())
                        curl = try #require(await Curl.outcomes(of: number..<number + 1, faults)[number])
                    }
                    #expect(
                        isRight(outcome, curl),
                        "reply \(number): \(outcome), and of curl \(curl): \(MutatedReply(number: UInt64(number)))")
                    if outcome.isAnswer { answers += 1 }
                }
            }
            return answers
        }

        private func isRight(_ outcome: Outcome, _ curl: Curl.Outcome) -> Bool {
            switch outcome {
            case .answer(let status, let data): curl.code == 0 && curl.status == status && curl.data == data
            // No response of this test takes that long.
            case .failure(.timedOut), .failure(.other), .other: false
            // curl accepts contradictory lengths, status lines that it understands only in part, and heads without an
            // end.
            case .failure(.invalidAnswer(let text)): curl.code != 0 || text.hasPrefix("its ") || curl.hasNull
            case .failure(.connectionBroken): curl.code != 0 || curl.hasNull || !curl.hasWholeHead
            case .failure: curl.code != 0
            }
        }
    }

    /// The results of the `curl` program for the same responses.
    private enum Curl {
        struct Outcome {
            let number: Int
            let code: Int
            let status: Int
            let data: Data
            let head: String

            /// True if the response contains a null byte. curl 7.88 then outputs unrelated bytes of its memory.
            var hasNull: Bool { MutatedReply(number: UInt64(number)).bytes.contains(0) }

            var hasWholeHead: Bool {
                ["\r\n\r\n", "\n\n", "\n\r\n"].contains { head.utf8.reversed().starts(with: $0.utf8.reversed()) }
            }
        }

        /// Runs curl, which continues after most failures and ends after some, until it has tried all responses.
        static func outcomes(of numbers: Range<Int>, _ server: FaultServer) async throws -> [Int: Outcome] {
            var outcomes: [Int: Outcome] = [:]
            var left = numbers
            while !left.isEmpty {
                let (some, code) = try await onOwnThread { [left] in try run(left, server) }
                outcomes.merge(some) { $1 }
                if some.isEmpty {
                    outcomes[left.lowerBound] = Outcome(
                        number: left.lowerBound, code: code, status: 0, data: Data(), head: "")
                }
                left = min((some.keys.max() ?? left.lowerBound) + 1, left.upperBound)..<left.upperBound
            }
            return outcomes
        }

        private static func run(_ numbers: Range<Int>, _ server: FaultServer) throws -> ([Int: Outcome], code: Int) {
            let folder = try TestFolder()
            var configuration = ""
            for number in numbers {
                let name = folder.file("\(number)").path
                configuration += """
                    url = \(server.url("/\(number)"))
                    output = \(name)
                    dump-header = \(name).head
                    header = "Connection: close"
                    compressed
                    silent
                    max-time = 10
                    write-out = "\(number) %{exitcode} %{http_code}\\n"
                    next

                    """
            }
            try Data(configuration.utf8).write(to: folder.file("configuration"))
            let process = Process()
            process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
            process.arguments = ["curl", "--config", folder.file("configuration").path]
            let output = Pipe()
            process.standardOutput = output
            process.standardError = FileHandle.nullDevice
            try process.run()
            let text = String(decoding: try output.fileHandleForReading.readToEnd() ?? Data(), as: UTF8.self)
            process.waitUntilExit()
            var outcomes: [Int: Outcome] = [:]
            for line in text.split(separator: "\n") {
                let parts = line.split(separator: " ").compactMap { Int($0) }
                let head = folder.content("\(parts[0]).head") ?? Data()
                outcomes[parts[0]] = Outcome(
                    number: parts[0], code: parts[1], status: parts[2], data: folder.content("\(parts[0])") ?? Data(),
                    head: String(decoding: head, as: UTF8.self))
            }
            return (outcomes, Int(process.terminationStatus))
        }
    }
#endif

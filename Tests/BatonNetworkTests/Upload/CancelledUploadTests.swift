#if os(Linux)
    import Baton
    import BatonNetworkTesting
    import BatonTesting
    import Foundation
    import FoundationNetworking
    import Testing

    @testable import BatonNetwork

    /// Uploads from sequences and forms that are cancelled at any stage.
    @Suite(.timeLimit(.minutes(10))) struct CancelledUploadTests {
        /// The stages: the body waits for its next element (a form has been sent, and waits for the response), the
        /// server does not read, the host does not answer, and the TLS handshake does not go on.
        private static let stages = ["waits", "unread", "connects", "handshakes"]

        @Test(
            "A cancelled upload ends its sequence, and leaves no task, thread or descriptor behind", arguments: stages,
            ["pieces", "bytes", "form"])
        func cancellations(_ stage: String, _ kind: String) async {
            await #expect(processExitsWith: .success) { [stage, kind] in
                let trial = try CancelledUpload(stage, kind)
                // The first uploads start threads that stay.
                for isDirect in [false, true] { try await trial.run(isDirect: isDirect) }
                _ = try await server.log("settled")
                let (before, objects) = (Resources.now, CurlHandle.objectCount)
                for number in 0..<20 { try await trial.run(isDirect: number % 2 == 1) }
                // The requests of this wait have objects of libcurl and may use a few threads, too.
                try await Resources.waitUntil {
                    $0.descriptors <= before.descriptors + 2 && $0.threads <= before.threads + 4
                        && CurlHandle.objectCount < objects + 20
                }
                trial.stop()
            }
        }
    }

    /// Makes uploads of one kind, and cancels them at one stage.
    private final class CancelledUpload: Sendable {
        /// An object that the closure of a body keeps.
        private final class Token: Sendable {
            private let log: EventLog<String>

            init(_ log: EventLog<String>) { self.log = log }

            deinit { log.append("released") }
        }

        private let stage: String
        private let kind: String
        private let faults: FaultServer
        private let silent: SilentAddresses
        private let folder: TestFolder
        private let base: URL
        private let transport = CurlTransport()
        /// The ends of the sequences and of the closures that made them.
        private let log = EventLog<String>()
        private let runs = EventLog<Int>()

        private var url: URL { URL(string: base.absoluteString + "?\(runs.count)")! }

        init(_ stage: String, _ kind: String) throws {
            (self.stage, self.kind) = (stage, kind)
            faults = try FaultServer()
            silent = SilentAddresses(port: UInt16(faults.port), count: 1)
            folder = try TestFolder()
            try Data("hello".utf8).write(to: folder.file("short"))
            try Data(count: 20_000_000).write(to: folder.file("long"))
            let port = faults.port
            base =
                switch stage {
                case "connects": URL(string: "http://\(silent.texts[0]):\(port)/")!
                case "handshakes": URL(string: "https://127.0.0.1:\(port)/")!
                default: faults.url("/\(stage)")
                }
            faults.on("/waits", .waitForRelease("never"))
            // After the test has released the key, the server reads the rest, and so finds the end of the connection.
            faults.on("/unread") { FaultScript(readsBodyFirst: false, [.waitForRelease($0.target)]) }
        }

        func stop() { faults.stop() }

        private func sequence<Element: Sendable>(_ elements: [Element]) -> AsyncStream<Element> {
            AsyncStream { [log, stage] stream in
                stream.onTermination = { _ in log.append("ended") }
                for element in elements { stream.yield(element) }
                if stage != "unread" { return }
                for _ in 0..<30 { for element in elements { stream.yield(element) } }
            }
        }

        private func upload() -> HTTPUpload {
            let token = Token(log)
            switch kind {
            case "pieces":
                let piece = Data(count: stage == "unread" ? 100_000 : 5)
                return HTTPUpload(
                    HTTPBodyStream { [self] in
                        _ = token
                        return sequence([piece])
                    }, to: url)
            case "bytes":
                let bytes = [UInt8](repeating: 0, count: 20_000)
                return HTTPUpload(
                    HTTPBodyStream(bytes: { [self] in
                        _ = token
                        return sequence(bytes)
                    }), to: url)
            default:
                return HTTPUpload(
                    MultipartForm().field("a", "b").file("f", folder.file(stage == "unread" ? "long" : "short")),
                    to: url)
            }
        }

        /// Sends a body, cancels the request at the stage, and checks that its sequence has ended.
        func run(isDirect: Bool) async throws {
            runs.append(1)
            let descriptors = Resources.now.descriptors
            if isDirect {
                let task = Task { [self] in
                    let upload = upload()
                    let answer = try await transport.send(upload.options.request, body: upload.body) { _ in }
                    for try await _ in answer.body {}
                }
                try await waitForStage(descriptors)
                task.cancel()
                let result = await task.result
                guard case .failure(let error) = result, error is CancellationError else {
                    preconditionFailure("\(result)")
                }
            } else {
                let operation = AsyncOperation(upload().transport(transport)).add(to: AsyncOperationQueue())
                try await waitForStage(descriptors)
                operation.cancel()
                _ = try? await operation.value
                precondition(operation.result?.isCancelled == true, "\(String(describing: operation.result))")
                // The request does not return before its sequence has ended.
                precondition(kind == "form" || log.events.count { $0 == "ended" } == runs.count, "it goes on")
            }
            faults.release("/unread?\(runs.count)")
            _ = await log.waitForCount((kind == "form" ? 1 : 2) * runs.count)
        }

        private func waitForStage(_ descriptors: Int) async throws {
            switch stage {
            case "waits": try await faults.waitForBody(5, ofRequest: runs.count - 1)
            case "unread": try await faults.waitForRequests(runs.count)
            case "handshakes": try await faults.waitForConnections(runs.count)
            default: try await Resources.waitUntil { $0.descriptors > descriptors }
            }
        }
    }
#endif

import Baton
import BatonNetwork
import BatonNetworkTesting
import Foundation

/// The program that `Benchmarks/http` runs: a server, and the work of Baton's client.
///
///     baton-http-bench serve                      prints its address, and ends when its standard input does
///     baton-http-bench small ADDRESS COUNT WIDTH  gets COUNT small answers, WIDTH at a time
///     baton-http-bench down ADDRESS FILE          downloads to a file
///     baton-http-bench up ADDRESS FILE            uploads a file
@main enum Main {
    static func main() async throws {
        let arguments = CommandLine.arguments.dropFirst()
        switch arguments.first {
        case "serve": try serve()
        case "small": try await get(arguments[2], count: Int(arguments[3])!, width: Int(arguments[4])!)
        case "down":
            let file = URL(fileURLWithPath: arguments[3])
            try await run(HTTPDownload(arguments[2], to: file))
        case "up":
            let upload = HTTPUpload(file: URL(fileURLWithPath: arguments[3]), to: URL(string: arguments[2])!)
            try await run(upload)
        default:
            print("usage: baton-http-bench serve | small ADDRESS COUNT WIDTH | down ADDRESS FILE | up ADDRESS FILE")
        }
    }

    private static func run(_ procedure: some Procedure) async throws {
        _ = try await AsyncOperationQueue().run(AsyncOperation(procedure))
    }

    private static func get(_ address: String, count: Int, width: Int) async throws {
        let queue = AsyncOperationQueue(maxConcurrentOperationCount: width)
        let operations = (0..<count).map { _ in AsyncOperation(HTTPData(address)) }
        queue.add(operations)
        for operation in operations { _ = try await operation.value }
    }

    private static func serve() throws {
        let server = try FaultServer()
        server.on("/small", .answer(body: String(repeating: "x", count: 100)))
        server.on("/large") { request in
            let count = Int(request.target.split(separator: "?").last ?? "") ?? 0
            return FaultScript([.answerHead(200, ["Content-Length: \(count)"]), .sendPattern(count: count)])
        }
        server.on("/upload", readsBodyFirst: false, .readBody, .answer())
        let slow = String(repeating: "x", count: 20)
        server.on("/slow", .answerHead(200, ["Content-Length: 20"]), .sendSlowly(slow, every: .milliseconds(250)))
        print(server.url("/").absoluteString)
        fflush(nil)
        while readLine() != nil {}
        server.stop()
    }
}

import Baton

/// A service that issues tokens, and is busy for every second upload.
actor FakeService: Service {
    private(set) var tokenCount = 0
    private(set) var searches: [String] = []
    private var isExpired = false
    private var uploads = 0

    func token() async throws -> String {
        try await Task.sleep(for: .milliseconds(30))
        tokenCount += 1
        isExpired = false
        return "token \(tokenCount)"
    }

    func find(_ text: String, token: String) async throws -> [String] {
        try check(token)
        searches.append(text)
        return ["a page about \(text)", "another page about \(text)"]
    }

    func upload(_ file: String, token: String) async throws {
        try check(token)
        uploads += 1
        if uploads.isMultiple(of: 2) { throw ServiceBusy() }
    }

    func expire() { isExpired = true }

    private func check(_ token: String) throws {
        guard token == "token \(tokenCount)", !isExpired else { throw Unauthorized() }
    }
}

let service = FakeService()
let network = Network()
let queue = AsyncOperationQueue(name: "library", maxConcurrentOperationCount: 4)
let model = LibraryModel(queue: queue, session: Session(service: service), network: network)

for text in ["w", "wh", "wheel"] {
    model.textDidChange(to: text)
    try await Task.sleep(for: .milliseconds(100))
}
let files = ["barrow.jpg", "rain.jpg", "chickens.jpg"]
for file in files { model.upload(file) }
try await Task.sleep(for: .milliseconds(300))
print(await service.searches)  // ["wheel"]
print(model.hits)  // ["a page about wheel", "another page about wheel"]
for file in files { print(file, model.uploads[file]!) }  // waiting
print(queue.operations.map { operation in "\(operation.explain())" }.sorted().first ?? "nothing waits")

await service.expire()  // all uploads now need a new token at the same time
network.isReachable = true
await queue.waitUntilIdle()
for file in files { print(file, model.uploads[file]!) }  // done
print("asked for a token \(await service.tokenCount) times")  // 2

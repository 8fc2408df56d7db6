import Baton

/// The state of a screen: the hits for the typed text, and the state of uploads.
@MainActor final class LibraryModel {
    private(set) var hits: [String] = []
    private(set) var uploads: [String: String] = [:]
    private let queue: AsyncOperationQueue
    private let session: Session
    private let network: Network

    init(queue: AsyncOperationQueue, session: Session, network: Network) {
        self.queue = queue
        self.session = session
        self.network = network
    }

    /// Call this for each change of the text. It searches when the text has not changed for a while.
    func textDidChange(to text: String) {
        AsyncOperation("search for \(text)") { [session] context in
            try await context.sleep(for: .milliseconds(200))
            return try await session.find(text, in: context)
        }
        .unique(by: ObjectIdentifier(self), in: "search", policy: .replace)
        .didFinish { @MainActor [weak self] outcome in
            if case .success(let hits) = outcome { self?.hits = hits }
        }
        .add(to: queue)
    }

    /// Uploads a file. Waits for the network, and retries after transient errors.
    @discardableResult
    func upload(_ file: String) -> AsyncOperation<Void> {
        uploads[file] = "waiting"
        return AsyncOperation("upload \(file)") { [session] context in try await session.upload(file, in: context) }
            .addCondition(IsReachable(network: network))
            .retry(.exponential(from: .milliseconds(50)).jittered(), attempts: 4) { error in
                error.underlyingError is ServiceBusy
            }
            .timeout(.seconds(5))
            .didStart { @MainActor [weak self] in self?.uploads[file] = "uploading" }
            .didFinish { @MainActor [weak self] outcome in
                self?.uploads[file] =
                    switch outcome {
                    case .success: "done"
                    case .failure(let error): "failed: \(error)"
                    }
            }
            .add(to: queue)
    }
}

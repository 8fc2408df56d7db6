import Baton
import Foundation

/// Writes pages to a file, and leaves no half of it behind.
struct Export: Procedure {
    let file: URL
    let pages: Int

    func execute(in context: OperationContext) async throws {
        var text = ""
        do {
            for page in 1...pages {
                try Task.checkCancellation()
                text += "page \(page)\n"
                try text.write(to: file, atomically: false, encoding: .utf8)
            }
        } catch {
            try? FileManager.default.removeItem(at: file)
            throw error
        }
    }
}

let queue = AsyncOperationQueue()
let export = AsyncOperation("export", Export(file: URL(filePath: "pages.txt"), pages: 3)).add(to: queue)
Task {
    await queue.waitUntilIdle()
    await queue.drain()
}

// The first signal gives the export five seconds. Then, or at the second signal, it is cancelled.
let signal = await queue.shutdown(on: .interrupt, .terminate, within: .seconds(5))
print(export.error.map { "not exported: \($0)" } ?? "exported")  // exported
exit(signal.map { 128 + $0.rawValue } ?? 0)  // 130 after Ctrl-C, as shells expect

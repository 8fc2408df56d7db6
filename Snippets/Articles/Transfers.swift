import Baton
import BatonNetwork
import Foundation

/// What to tell the user.
func advice(on error: OperationError) -> String {
    // The error of a request is found at the root, whatever it has passed through.
    guard let error = error.underlyingError as? HTTPError else { return "\(error)" }
    switch error.reason {
    case .refused(let refusal): return "the server says \(refusal.status)"
    case .connectionRefused, .hostNotFound, .timedOut: return "try again later"
    default: return "\(error)"
    }
}

let queue = AsyncOperationQueue()
let folder = FileManager.default.temporaryDirectory  // it has to exist
let report = AsyncOperation(
    HTTPDownload("http://127.0.0.1:1/report.pdf", to: folder.appending(path: "report.pdf")))
let upload = AsyncOperation(
    HTTPUpload(Data("hello".utf8), to: URL(string: "http://127.0.0.1:1/notes")!))  // a POST
for operation in [report.map { _ in }, upload.map { _ in }] {
    do throws(OperationError) { try await queue.run(operation) } catch { print(advice(on: error)) }  // try again later
}

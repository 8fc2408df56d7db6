import Baton
import BatonFoundation
import BatonNetwork
import BatonProcess
import Foundation

func names(at url: URL) -> AsyncOperation<[String]> {
    AsyncOperation(HTTPData(url).deadline(.seconds(10)))  // or HTTPDownload(url, to: file), which resumes
        .retryHTTP(attempts: 4)  // after transient failures, no sooner than `Retry-After` says
        .addCondition(.perHost(url, to: 2))
        .then { page in page.data }.then(JSONDecoding<[String]>())
}

let words = Subprocess("printf", arguments: ["%s\\n", "red", "wheel", "barrow", "red"])
// The three programs run concurrently, connected by pipes.
let sorted = AsyncOperation(SubprocessPipeline(words, Subprocess("sort"), Subprocess("uniq")))
// This one runs afterwards, with the output of the pipeline as its input.
let last = sorted.then(Subprocess("tail", arguments: ["-n", "1"]))
print(try await AsyncOperationQueue.shared.run(last).text, terminator: "")  // wheel

import Baton
import BatonNetwork
import Foundation

let arguments = Array(CommandLine.arguments.dropFirst())
guard let address = arguments.first, let start = URL(string: address), start.host() != nil else {
    FileHandle.standardError.write(Data("usage: Crawler <url> [depth] [width] [pages per second]\n".utf8))
    exit(2)
}
func number(_ index: Int, default value: Int) -> Int {
    arguments.indices.contains(index) ? Int(arguments[index]) ?? value : value
}
let deepest = number(1, default: 3)
let width = number(2, default: 4)
let rate = number(3, default: 100)

let queue = AsyncOperationQueue(name: "crawler", maxConcurrentOperationCount: width)
let line = ProgressLine()
let interruption = Task {
    await queue.shutdown(on: .interrupt, .terminate, within: .seconds(30)) { signal in
        line.show("\(signal): waiting for the pages that were begun; once more to stop")
    }
}

// The links of each page are fed back into the sequence that supplies the visits.
let (links, found) = AsyncStream.makeStream(of: Link.self)
var known: Set<URL> = [start]
found.yield(Link(url: start, depth: 0))

let visits = links.deliver(to: Visit(), on: queue, width: width, order: .arrival) { visit, link in
    visit.name(link.url.absoluteString)
        .retryHTTP(attempts: 3)
        .addCondition(.rate(link.url.host()!, rate, per: .seconds(1)))
}

var pages = 0
var bytes = 0
var failures: [String] = []
var calledOff = 0
for await outcome in visits.results {
    switch outcome {
    case .success(let page):
        pages += 1
        bytes += page.byteCount
        for link in page.links where link.depth <= deepest && known.insert(link.url).inserted { found.yield(link) }
        line.show("\(pages) of \(known.count) pages, \(failures.count) failed: \(page.link.url.path())")
    case .failure(.cancelled), .failure(.queueShutDown):
        calledOff += 1
    case .failure(let error):
        failures.append("\(error)")
    }
    if pages + failures.count + calledOff == known.count { found.finish() }
}
await queue.drain()
line.clear()

let signal = await interruption.value
for failure in failures { print("failed: \(failure)") }
let notVisited = known.count - pages - failures.count
print("\(pages) \(pages == 1 ? "page" : "pages"), \(bytes) bytes, \(failures.count) failed, \(notVisited) not visited")
if let signal {
    print("ended by \(signal)")
    exit(130)
}
exit(failures.isEmpty ? 0 : 1)

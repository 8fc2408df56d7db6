import Baton
import Foundation
import MakeCore

struct BuildFile: Decodable { let targets: [Target] }

var path = "build.json"
var width = 2
var keepsGoing = false
var goals: [String] = []
var arguments = CommandLine.arguments.dropFirst()
while let argument = arguments.popFirst() {
    switch argument {
    case "-f": path = arguments.popFirst() ?? path
    case "-j": width = arguments.popFirst().flatMap { Int($0) } ?? width
    case "-k": keepsGoing = true
    default: goals.append(argument)
    }
}

func complain(_ text: String) { FileHandle.standardError.write(Data("make: \(text)\n".utf8)) }

let plan: Plan
do {
    let file = try JSONDecoder().decode(BuildFile.self, from: Data(contentsOf: URL(filePath: path)))
    plan = try Plan(file.targets, goals: goals, isFile: { FileManager.default.fileExists(atPath: $0) })
} catch {
    complain("\(path): \((error as? PlanError)?.description ?? error.localizedDescription)")
    exit(2)
}

let queue = AsyncOperationQueue(name: "make", maxConcurrentOperationCount: width)
let interruption = Task { await queue.shutdown(on: .interrupt, .terminate, within: .zero) }
let report = await Build(plan, in: .real, keepsGoing: keepsGoing).run(on: queue)
await queue.drain()

for line in report.problems { complain(line.description) }
let made = plan.targets.count { target in target.command != nil && report[target.name] == .made }
print(made == 0 && report.problems.isEmpty ? "nothing to do" : "\(made) made, \(report.problems.count) not")
if let signal = await interruption.value {
    complain("ended by \(signal)")
    exit(130)
}
exit(report.problems.isEmpty ? 0 : 1)

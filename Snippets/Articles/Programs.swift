import Baton
import BatonProcess

let queue = AsyncOperationQueue()
let list = Subprocess("printf", arguments: ["%s\\n", "pear", "apple", "pear"])
let sorted = AsyncOperation(SubprocessPipeline(list, Subprocess("sort"), Subprocess("uniq")))  // run concurrently
print(try await queue.run(sorted).text, terminator: "")  // apple, pear: one a line

// Line by line, while the program runs. A slow handler holds the program back.
let lines = Subprocess("printf", arguments: ["one\\ntwo\\n"], output: .lines { line in print("line: \(line)") })
_ = try await queue.run(AsyncOperation(lines))  // line: one, line: two

let failing = AsyncOperation(Subprocess("sh", arguments: ["-c", "echo no paper >&2; exit 3"]))
do {
    _ = try await queue.run(failing)
} catch {
    print(error)  // ‘sh’ exited with status 3: no paper
}

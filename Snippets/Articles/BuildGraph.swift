import Baton

struct UnknownTarget: Error { let name: String }

/// Each line has a target, and what it needs.
func parse(_ file: String) -> [String: [String]] {
    file.split(separator: "\n").reduce(into: [:]) { needs, line in
        let names = line.split { character in character == ":" || character == " " }.map { name in String(name) }
        needs[names[0]] = Array(names.dropFirst())
    }
}

let needs = parse(
    """
    book: cover pages
    cover: pictures
    pages: text pictures
    text:
    pictures:
    index: pages
    """)
let upToDate: Set = ["text"]

func operation(for name: String) -> AsyncOperation<Void> {
    AsyncOperation(name) { print("made \(name)") }
        .addCondition("is out of date") { [upToDate] _ in upToDate.contains(name) ? .skip("up to date") : .satisfied }
}

let operations = Dictionary(uniqueKeysWithValues: needs.keys.map { name in (name, operation(for: name)) })
for (name, sources) in needs {
    for source in sources {
        guard let operation = operations[source] else { throw UnknownTarget(name: source) }
        operations[name]!.addDependency(operation, on: .noFailure)  // up to date is not a failure
    }
}

let queue = AsyncOperationQueue(maxConcurrentOperationCount: 4)
do {
    try await queue.run(operations["book"]!)  // made pictures, made cover, made pages, made book
} catch .skipped(.condition(let reason)) {
    print("book: \(reason)")  // if the book itself is up to date
} catch {
    throw error
}
print(operations["index"]!.state)  // created, because the book does not need it

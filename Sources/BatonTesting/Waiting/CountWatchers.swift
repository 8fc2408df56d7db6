/// Those who wait until a number has grown to the one they want.
struct CountWatchers<Watcher: Equatable> {
    private var entries: [(target: Int, watcher: Watcher)] = []

    mutating func add(_ watcher: Watcher, target: Int) {
        entries.append((target, watcher))
    }

    mutating func remove(_ watcher: Watcher) {
        entries.removeAll { $0.watcher == watcher }
    }

    /// Takes out those who are content with `count`, in order of arrival.
    mutating func take(at count: Int) -> [Watcher] {
        let content = entries.filter { $0.target <= count }.map(\.watcher)
        if !content.isEmpty { entries.removeAll { $0.target <= count } }
        return content
    }
}

/// The targets that are needed for some goals.
package struct Plan: Sendable {
    package let targets: [Target]

    /// - Parameters:
    ///   - goals: The targets to make. If there are none, all targets are made.
    ///   - isFile: Returns true if there is a file with the given name.
    package init(_ all: [Target], goals: [String] = [], isFile: (String) -> Bool = { _ in false }) throws(PlanError) {
        var byName: [String: Target] = [:]
        for target in all where byName.updateValue(target, forKey: target.name) != nil {
            throw .declaredTwice(target.name)
        }
        var seen: Set<String> = []
        var open = (goals.isEmpty ? all.map(\.name) : goals).map { name in (name: name, by: String?.none) }
        while let (name, reader) = open.popLast() {
            guard let target = byName[name] else {
                if reader != nil, isFile(name) { continue }
                throw .unknown(name, neededBy: reader, known: byName.keys.sorted())
            }
            guard seen.insert(name).inserted else { continue }
            open += target.needs.map { need in (name: need, by: name) }
        }
        targets = all.filter { target in seen.contains(target.name) }
    }
}

package enum PlanError: Error, Hashable, CustomStringConvertible {
    case declaredTwice(String)
    case unknown(String, neededBy: String?, known: [String])

    package var description: String {
        switch self {
        case .declaredTwice(let name): "‘\(name)’ is declared twice"
        case .unknown(let name, let reader, let known):
            "there is neither a target nor a file ‘\(name)’\(reader.map { ", which ‘\($0)’ needs" } ?? "")"
                + ". The targets are: \(known.joined(separator: ", "))"
        }
    }
}

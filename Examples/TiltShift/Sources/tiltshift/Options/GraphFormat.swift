internal import BatonTrace
internal import Foundation

/// The format of a graph, which the file's extension determines.
enum GraphFormat {
    static func picture(path: String) -> Trace.Picture? {
        switch (path as NSString).pathExtension.lowercased() {
        case "dot", "gv": .dot
        case "mmd", "mermaid": .mermaid
        case "svg": .svg
        default: nil
        }
    }
}

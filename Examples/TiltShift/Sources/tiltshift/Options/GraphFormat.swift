internal import BatonTrace
internal import Foundation

/// What a graph is written as, which the name of its file says.
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

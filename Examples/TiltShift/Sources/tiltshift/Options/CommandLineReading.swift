internal import Foundation
@preconcurrency internal import LibGetopt

/// The error of an invalid command line, with a description.
struct UsageError: Error, CustomStringConvertible {
    let description: String

    init(_ description: String) { self.description = description }
}

/// An option, and its description in the help.
struct OptionDescription {
    let name: String
    /// The name of its argument, or nil if it has none.
    var argument: String?
    let help: String
}

/// Parses a command line with the system's `getopt_long`: options at any position, `--name=value`, unambiguous
/// abbreviations, and `--` before file names that begin with a dash.
///
/// Call it on one thread at a time, because `getopt_long` is not thread-safe.
func read(
    _ arguments: [String], as options: [OptionDescription]
) throws(UsageError) -> (options: [(name: String, value: String)], rest: [String]) {
    let names = options.map { strdup($0.name) }
    var words = ([CommandLine.arguments.first ?? "tiltshift"] + arguments).map { strdup($0) } + [nil]
    let allWords = words  // getopt_long reorders them
    defer { for text in names + allWords { free(text) } }
    var table = zip(options, names).map { description, name in
        let argument = description.argument == nil ? no_argument : required_argument
        return option(name: name, has_arg: argument, flag: nil, val: 1)
    }
    table.append(option())

    var found: [(name: String, value: String)] = []
    optind = 0  // resets getopt_long
    opterr = 0
    while true {
        var index: CInt = 0
        switch getopt_long(CInt(allWords.count - 1), &words, ":", table, &index) {
        case -1:
            let rest = words[Int(optind)...].compactMap { $0.map { String(cString: $0) } }
            return (found, rest)
        case 1:
            found.append((options[Int(index)].name, optarg.map { String(cString: $0) } ?? ""))
        case CInt(UInt8(ascii: ":")):
            throw UsageError("\(word(before: optind)) needs a value")
        default:
            throw UsageError("\(word(before: optind)) is not an option, or could be several")
        }
    }

    func word(before index: CInt) -> String {
        words[max(0, Int(index) - 1)].map { String(cString: $0) } ?? ""
    }
}

internal import Foundation
@preconcurrency internal import LibGetopt

/// A command line that makes no sense. Says what is wrong with it.
struct UsageError: Error, CustomStringConvertible {
    let description: String

    init(_ description: String) { self.description = description }
}

/// An option, as it is typed and as the help shows it.
struct OptionDescription {
    let name: String
    /// What its argument is called; nil: it has none.
    var argument: String?
    let help: String
}

/// Takes a command line apart, with the system's `getopt_long`: options anywhere, `--name=value`, unambiguous
/// beginnings of names, and `--` before names of files that begin with a dash.
///
/// To be called on one thread at a time, as `getopt_long` has to be.
func read(
    _ arguments: [String], as options: [OptionDescription]
) throws(UsageError) -> (options: [(name: String, value: String)], rest: [String]) {
    let names = options.map { strdup($0.name) }
    var words = ([CommandLine.arguments.first ?? "tiltshift"] + arguments).map { strdup($0) } + [nil]
    let allWords = words  // getopt_long puts them in another order
    defer { for text in names + allWords { free(text) } }
    var table = zip(options, names).map { description, name in
        let argument = description.argument == nil ? no_argument : required_argument
        return option(name: name, has_arg: argument, flag: nil, val: 1)
    }
    table.append(option())

    var found: [(name: String, value: String)] = []
    optind = 0  // begin anew
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
            throw UsageError("\(word(before: optind)) is no option, or could be several")
        }
    }

    func word(before index: CInt) -> String {
        words[max(0, Int(index) - 1)].map { String(cString: $0) } ?? ""
    }
}

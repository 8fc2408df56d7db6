internal import Foundation
internal import Miniatures

/// The options of the command line.
struct Options {
    enum Command {
        case make
        case encrypt
        case showHelp
        case showVersion
    }

    var command = Command.make
    var settings = Settings()
    var inputs: [String] = []
    var report: String?
    var graph: String?
    var printsJSON = false
    var isQuiet = false
    /// The folder that was given.
    var folder: String?
}

extension Options {
    static let descriptions = [
        OptionDescription(name: "out", argument: "FOLDER", help: "where the miniatures go (miniatures)"),
        OptionDescription(name: "focus", argument: "PERCENT", help: "where the sharp band is, from the top (55)"),
        OptionDescription(name: "band", argument: "PERCENT", help: "how high it is (16)"),
        OptionDescription(name: "blur", argument: "PERCENT", help: "how strong the blur is, of the height (0.8)"),
        OptionDescription(name: "saturation", argument: "FACTOR", help: "1 leaves the colours as they are (1.4)"),
        OptionDescription(name: "format", argument: "FORMAT", help: "jpeg, png or webp (jpeg)"),
        OptionDescription(name: "quality", argument: "NUMBER", help: "of JPEG and WebP, from 1 to 100 (88)"),
        OptionDescription(name: "jobs", argument: "NUMBER", help: "pictures at the same time (one for each core)"),
        OptionDescription(name: "retries", argument: "NUMBER", help: "further attempts of a download (3)"),
        OptionDescription(name: "timeout", argument: "SECONDS", help: "for each attempt of a download (30)"),
        OptionDescription(name: "key", argument: "FILE", help: "decrypts pictures that are called .enc"),
        OptionDescription(name: "force", help: "makes again what is up to date, and replaces files of others"),
        OptionDescription(name: "report", argument: "FILE", help: "writes a page: before, after, timeline, graph"),
        OptionDescription(name: "graph", argument: "FILE", help: "writes the graph: .dot, .mmd or .svg (Graphviz)"),
        OptionDescription(name: "json", help: "prints what became of each picture as JSON"),
        OptionDescription(name: "dry-run", help: "only says what would be made"),
        OptionDescription(name: "quiet", help: "says nothing but failures"),
        OptionDescription(name: "help", help: "shows this"),
        OptionDescription(name: "version", help: "shows the version"),
    ]

    /// Parses the arguments of the program, without its name.
    init(_ arguments: [String]) throws(UsageError) {
        settings.jobs = ProcessInfo.processInfo.activeProcessorCount
        var arguments = arguments[...]
        if arguments.first == "encrypt" {
            command = .encrypt
            arguments = arguments.dropFirst()
        }
        let (options, rest) = try read(Array(arguments), as: Self.descriptions)
        inputs = rest
        for (name, value) in options { try take(Argument(name: name, text: value)) }
        if command == .make || command == .encrypt { try check() }
    }

    private mutating func take(_ argument: Argument) throws(UsageError) {
        switch argument.name {
        case "out": (folder, settings.folder) = (argument.text, URL(fileURLWithPath: try argument.path()))
        case "focus": settings.recipe.look.focus = try argument.number(in: 0...100)
        case "band": settings.recipe.look.band = try argument.number(in: 0...100)
        case "blur": settings.recipe.look.blur = try argument.number(in: 0...10)
        case "saturation": settings.recipe.look.saturation = try argument.number(in: 0...5)
        case "format": settings.recipe.format = try argument.format()
        case "quality": settings.recipe.quality = try argument.count(in: 1...100)
        case "jobs": settings.jobs = try argument.count(in: 1...256)
        case "retries": settings.retries = try argument.count(in: 0...100)
        case "timeout": settings.timeout = .seconds(try argument.number(in: 0.001...86_400))
        case "key": settings.keyFile = URL(fileURLWithPath: try argument.path())
        case "force": settings.isForced = true
        case "report": (report, settings.hasThumbnails) = (try argument.path(), true)
        case "graph": graph = try argument.graphPath()
        case "json": printsJSON = true
        case "dry-run": settings.isRehearsal = true
        case "quiet": isQuiet = true
        case "help": command = .showHelp
        default: if command != .showHelp { command = .showVersion }
        }
    }

    private func check() throws(UsageError) {
        if inputs.contains("") { throw UsageError("the name of a picture is empty") }
        if command == .encrypt && settings.keyFile == nil {
            throw UsageError("‘encrypt’ needs --key FILE; a file that is not there is made, with a new key")
        }
        if inputs.isEmpty {
            throw UsageError(
                command == .encrypt ? "nothing to encrypt: name files" : "no pictures: name files, folders or addresses"
            )
        }
    }
}

/// An option of the command line, with its value.
private struct Argument {
    let name: String
    let text: String

    func number(in range: ClosedRange<Double>) throws(UsageError) -> Double {
        let digits = text.hasSuffix("%") ? text.dropLast() : text[...]
        guard let number = Double(digits), range.contains(number) else {
            throw UsageError(
                "--\(name) needs a number from \(range.lowerBound.formatted()) to \(range.upperBound.formatted()), not "
                    + "‘\(text)’"
            )
        }
        return number
    }

    func count(in range: ClosedRange<Int>) throws(UsageError) -> Int {
        guard let number = Int(text), range.contains(number) else {
            throw UsageError(
                "--\(name) needs a whole number from \(range.lowerBound) to \(range.upperBound), not ‘\(text)’")
        }
        return number
    }

    func path() throws(UsageError) -> String {
        if text.isEmpty { throw UsageError("--\(name) needs the name of a file or folder") }
        return text
    }

    func format() throws(UsageError) -> PictureFormat {
        guard let format = PictureFormat(rawValue: text.lowercased() == "jpg" ? "jpeg" : text.lowercased()) else {
            throw UsageError("--format needs jpeg, png or webp, not ‘\(text)’")
        }
        return format
    }

    func graphPath() throws(UsageError) -> String {
        guard GraphFormat.picture(path: text) != nil else {
            throw UsageError("--graph needs a file that ends with .dot, .mmd or .svg, not ‘\(text)’")
        }
        return text
    }
}

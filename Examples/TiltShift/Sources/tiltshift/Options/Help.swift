/// The text that `--help` prints.
enum Help {
    static let version = "1.0"

    static var text: String {
        let width = Options.descriptions.map { left($0).count }.max() ?? 0
        let lines = Options.descriptions.map { description in
            let left = left(description)
            return "  \(left)\(String(repeating: " ", count: width - left.count))  \(description.help)"
        }
        return """
            usage: tiltshift [options] <picture | folder | address>…
                   tiltshift encrypt --key FILE [--out FOLDER] <file>…

            Makes pictures look like photographs of models: a sharp band, blur above and below it, and strong
            colours. Reads JPEG, PNG, WebP and TIFF, from files, from folders and from web servers.

            \(lines.joined(separator: "\n"))

            ‘encrypt’ writes a file called .enc beside each file, or into the folder; it makes a key if there is none.

            Exit status: 0 all is well, 1 something failed, 2 the command line makes no sense, 130 interrupted.
            """
    }

    private static func left(_ description: OptionDescription) -> String {
        "--\(description.name)\(description.argument.map { " \($0)" } ?? "")"
    }
}

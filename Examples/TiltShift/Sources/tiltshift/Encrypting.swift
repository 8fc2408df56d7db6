internal import Foundation
internal import Miniatures

/// The command `tiltshift encrypt`, which makes an encrypted `.enc` file of each file.
enum Encrypting {
    static func run(_ options: Options) -> Status {
        guard let keyFile = options.settings.keyFile else { return .badUsage }
        do {
            let key = try key(in: keyFile, isQuiet: options.isQuiet)
            var status = Status.success
            var written: Set<String> = []
            for input in options.inputs {
                do {
                    let output = output(of: input, in: options.folder)
                    let isTaken = !options.settings.isForced && FileManager.default.fileExists(atPath: output.path)
                    if isTaken || !written.insert(output.path).inserted { throw OutputTaken(path: output.relativePath) }
                    try SecretFile.seal(URL(fileURLWithPath: input), to: output, with: key)
                    if !options.isQuiet { Console.print("\(input) → \(output.relativePath)") }
                } catch {
                    Console.complain("\(input): \(error)")
                    status = .failure
                }
            }
            return status
        } catch {
            Console.complain("\(keyFile.relativePath): \(error)")
            return .failure
        }
    }

    /// Returns the key in the file, or a new key if the file does not exist.
    private static func key(in file: URL, isQuiet: Bool) throws -> SecretKey {
        if FileManager.default.fileExists(atPath: file.path) { return try SecretKey(file: file) }
        let key = try SecretKey.random()
        try key.write(to: file)
        if !isQuiet { Console.complain("a new key is in \(file.relativePath): who has it can decrypt") }
        return key
    }

    private static func output(of input: String, in folder: String?) -> URL {
        let file = URL(fileURLWithPath: input)
        let place = folder.map { URL(fileURLWithPath: $0) } ?? file.deletingLastPathComponent()
        return place.appendingPathComponent("\(file.lastPathComponent).\(SecretFile.fileExtension)")
    }
}

/// The file to be written exists already.
private struct OutputTaken: Error, CustomStringConvertible {
    let path: String

    var description: String { "\(path) is there already: use --force or another --out" }
}

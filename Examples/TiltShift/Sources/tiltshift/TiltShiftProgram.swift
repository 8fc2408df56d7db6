internal import Baton
internal import BatonTrace
internal import Foundation
internal import Miniatures

@main
enum TiltShiftProgram {
    static func main() async {
        exit(await run(Array(CommandLine.arguments.dropFirst())).rawValue)
    }

    private static func run(_ arguments: [String]) async -> Status {
        let options: Options
        do {
            options = try Options(arguments)
        } catch {
            Console.complain("\(error)\nTry ‘tiltshift --help’.")
            return .badUsage
        }
        switch options.command {
        case .showHelp: Console.print(Help.text)
        case .showVersion: Console.print("tiltshift \(Help.version)")
        case .encrypt: return Encrypting.run(options)
        case .make: return await make(options)
        }
        return .success
    }

    private static func make(_ options: Options) async -> Status {
        let batch = Batch(SourceList(options.inputs), options.settings)
        let interruptions = Interruptions {
            Console.complain("stopping… (once more to stop at once)")
            batch.queue.cancelAll()
        }
        defer { withExtendedLifetime(interruptions) {} }

        let isTalkative = !options.isQuiet && !options.printsJSON
        let view =
            isTalkative && !options.settings.isRehearsal && Console.isTerminal ? LiveView.ofStages(batch.queue) : nil
        let result = await batch.run { picture in
            if isTalkative && view == nil { Console.print(picture.line) }
        }
        await view?.finish()

        if view != nil { for picture in result.pictures { Console.print(picture.line) } }
        show(result, options)
        let isWritten = await write(result, options)
        if result.wasCancelled { return .interrupted }
        return result.hasFailures || !isWritten ? .failure : .success
    }

    private static func show(_ result: BatchResult, _ options: Options) {
        if options.printsJSON {
            Console.print((try? String(decoding: result.json(), as: UTF8.self)) ?? "{}")
        }
        if options.printsJSON || options.isQuiet {
            for picture in result.pictures where picture.hasFailed { Console.complain(picture.line) }
        } else {
            Console.print(result.closingLine)
        }
    }

    /// Writes the requested files. Returns false if one could not be written.
    private static func write(_ result: BatchResult, _ options: Options) async -> Bool {
        var isWritten = true
        func attempt(_ path: String?, _ write: (String) async throws -> Void) async {
            guard let path else { return }
            do {
                try await write(path)
            } catch {
                Console.complain("\(error)")
                isWritten = false
            }
        }
        await attempt(options.report) { path in try await result.writeReport(to: URL(fileURLWithPath: path)) }
        await attempt(options.graph) { path in
            if let picture = GraphFormat.picture(path: path) { try await result.trace.write(picture, to: path) }
        }
        return isWritten
    }
}

extension LiveView {
    /// A live view with a bar for each stage. Failures are printed afterwards.
    fileprivate static func ofStages(_ queue: AsyncOperationQueue) -> LiveView {
        var options = Options()
        options.stage = { Stage.name(of: $0) }
        options.failureCount = 0
        options.knowsTotals = false
        return LiveView(of: queue, options: options)
    }
}

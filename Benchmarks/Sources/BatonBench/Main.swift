import Foundation

@main
enum Main {
    /// This method is not async, so that the harness stays on the main thread, outside of the pool that it measures.
    static func main() {
        let arguments = CommandLine.arguments
        if arguments.contains("--help") { return print(Options.usage) }
        do {
            if try Child.main(arguments) { return }
            let options = try Options(Array(arguments.dropFirst()))
            let machine = Machine()
            say(machine.text)
            var benchmark = Benchmark(options)
            let measurements = benchmark.run()
            if let file = options.json {
                try ResultsFile.write(measurements, machine, to: file)
                say("\nwritten to \(file)")
            }
        } catch let wrong as Options.Wrong {
            fail("\(wrong.message)\n\(Options.usage)")
        } catch {
            fail("\(error)")
        }
    }

    private static func fail(_ message: String) -> Never {
        FileHandle.standardError.write(Data((message + "\n").utf8))
        exit(2)
    }
}

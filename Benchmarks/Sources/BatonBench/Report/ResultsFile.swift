import Foundation

/// Writes the JSON file, with one line for each measurement, so that two files are easy to compare.
enum ResultsFile {
    static func write(_ measurements: Measurements, _ machine: Machine, to path: String) throws {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        func line(_ value: some Encodable) throws -> String {
            String(decoding: try encoder.encode(value), as: UTF8.self)
        }
        let results = try measurements.all.filter(\.nanosecondsPerOperation.isFinite).map { measurement in
            var measurement = measurement
            measurement.nanosecondsPerOperation = measurement.nanosecondsPerOperation.tenths
            measurement.bytesPerOperation = measurement.bytesPerOperation?.rounded()
            return try line(measurement)
        }
        let text = """
            {
            "machine": \(try line(machine)),
            "results": [
            \(results.joined(separator: ",\n"))
            ]
            }

            """
        try Data(text.utf8).write(to: URL(fileURLWithPath: path))
    }
}

extension Double {
    fileprivate var tenths: Double { (self * 10).rounded() / 10 }
}

import Foundation

/// A table of text. Its leading columns are aligned to the left, the others to the right.
struct Table {
    private var rows: [[String]]
    private let leading: Int

    init(_ header: String..., leading: Int = 1) {
        rows = [header]
        self.leading = leading
    }

    mutating func add(_ cells: String...) { rows.append(cells) }

    var text: String {
        let widths = rows[0].indices.map { column in rows.map { $0[column].count }.max() ?? 0 }
        return rows.map { row in
            row.indices.map { column in
                let space = String(repeating: " ", count: widths[column] - row[column].count)
                return column < leading ? row[column] + space : space + row[column]
            }
            .joined(separator: "  ")
        }
        .joined(separator: "\n")
    }
}

/// Prints without a buffer, so that the text appears at once, also in a pipe.
func say(_ text: String = "") {
    FileHandle.standardOutput.write(Data((text + "\n").utf8))
}

extension Double {
    /// The number with three significant digits.
    var short: String {
        if self >= 100 { return rounded().formatted(decimals: 0) }
        return formatted(decimals: self >= 10 ? 1 : 2)
    }

    func formatted(decimals: Int) -> String { String(format: "%.\(decimals)f", self) }
}

extension Int {
    /// The number with separators, such as 100,000.
    var grouped: String {
        var digits = String(self)
        var result = ""
        while digits.count > 3 {
            result = "," + digits.suffix(3) + result
            digits.removeLast(3)
        }
        return digits + result
    }
}

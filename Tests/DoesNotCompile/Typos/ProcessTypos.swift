// Mistakes in closures of `BatonProcess`.
// Each mistake stands in one statement and in several. "error: …" is in the message for its line.
import Baton
import BatonProcess
import Foundation

struct Page: Sendable {
    let title: String
    let size: Int
}

let sample = Page(title: "", size: 0)

// MARK: - Output of programs

func lines() {
    _ = StandardOutput.lines { line in print(line.cuont) }  // error: has no member 'cuont'
    _ = StandardOutput.lines { line in
        let value = line.cuont  // error: has no member 'cuont'
        print(value)
    }
    _ = StandardOutput.lines { line in print(line.count + sample.title) }  // error: cannot be applied to operands
    _ = StandardOutput.lines { line in
        let value = line.count + sample.title  // error: cannot be applied to operands of type 'Int' and 'String'
        print(value)
    }
    _ = StandardOutput.lines { a, b in print(sample.title) }  // error: expects 1 argument, but 2 were used
    _ = StandardOutput.lines { a, b in  // error: expects 1 argument, but 2 were used
        let value = 1
        print(value)
    }
}

func bytes() {
    _ = StandardOutput.bytes { piece in print(piece.cuont) }  // error: has no member 'cuont'
    _ = StandardOutput.bytes { piece in
        let value = piece.cuont  // error: has no member 'cuont'
        print(value)
    }
    _ = StandardOutput.bytes { piece in print(piece.count + sample.title) }  // error: cannot be applied to operands
    _ = StandardOutput.bytes { piece in
        let value = piece.count + sample.title  // error: cannot be applied to operands of type 'Int' and 'String'
        print(value)
    }
    _ = StandardOutput.bytes { a, b in print(sample.title) }  // error: expects 1 argument, but 2 were used
    _ = StandardOutput.bytes { a, b in  // error: expects 1 argument, but 2 were used
        let value = 1
        print(value)
    }
}

func errorLines() {
    _ = StandardError.lines { line in print(line.cuont) }  // error: has no member 'cuont'
    _ = StandardError.lines { line in
        let value = line.cuont  // error: has no member 'cuont'
        print(value)
    }
    _ = StandardError.lines { line in print(line.count + sample.title) }  // error: cannot be applied to operands
    _ = StandardError.lines { line in
        let value = line.count + sample.title  // error: cannot be applied to operands of type 'Int' and 'String'
        print(value)
    }
    _ = StandardError.lines { a, b in print(sample.title) }  // error: expects 1 argument, but 2 were used
    _ = StandardError.lines { a, b in  // error: expects 1 argument, but 2 were used
        let value = 1
        print(value)
    }
}

// Mistakes in closures over the outcomes of one to eight inputs.
// Each mistake stands in one statement and in several. "error: …" is in the message for its line.
import Baton

struct Page: Sendable {
    let title: String
    let size: Int
}

let sample = Page(title: "", size: 0)
let queue = AsyncOperationQueue()
let page = AsyncOperation { sample }
let pages = [page]

// MARK: - One outcome

func one() {
    _ = AsyncOperation(resultOf: page) { result in try result.get().titel }  // error: has no member 'titel'
    _ = AsyncOperation(resultOf: page) { result in
        let value = try result.get().titel  // error: has no member 'titel'
        return value
    }
    _ = AsyncOperation(resultOf: page) { result in
        try result.get().size + result  // error: 'Result<Page, OperationError>' to expected argument type 'Int'
    }
    _ = AsyncOperation(resultOf: page) { result in
        let value = try result.get().size + result  // error: cannot convert value
        return value
    }
    _ = AsyncOperation(resultOf: page) { a, b, c in sample.title }  // error: expects 2 arguments, but 3 were used
    _ = AsyncOperation(resultOf: page) { a, b, c in  // error: expects 2 arguments, but 3 were used
        let value = sample.title
        return value
    }
}

func oneNamed() {
    _ = AsyncOperation("name", resultOf: page) { result in
        try result.get().titel  // error: has no member 'titel'
    }
    _ = AsyncOperation("name", resultOf: page) { result in
        let value = try result.get().titel  // error: has no member 'titel'
        return value
    }
    _ = AsyncOperation("name", resultOf: page) { result in
        try result.get().size + result  // error: 'Result<Page, OperationError>' to expected argument type 'Int'
    }
    _ = AsyncOperation("name", resultOf: page) { result in
        let value = try result.get().size + result  // error: cannot convert value
        return value
    }
    _ = AsyncOperation("name", resultOf: page) { a, b, c in sample.title }  // error: expects 2 arguments
    _ = AsyncOperation("name", resultOf: page) { a, b, c in  // error: expects 2 arguments, but 3 were used
        let value = sample.title
        return value
    }
}

func oneContext() {
    _ = AsyncOperation(resultOf: page) { result, context in
        try result.get().titel  // error: has no member 'titel'
    }
    _ = AsyncOperation(resultOf: page) { result, context in
        let value = try result.get().titel  // error: has no member 'titel'
        return value
    }
    // The compiler first reports something else.
    _ = AsyncOperation(resultOf: page) { result, context in  // error: expects 1 argument, but 2 were used
        try result.get().size + context  // error: 'OperationContext' to expected argument type 'Int'
    }
    _ = AsyncOperation(resultOf: page) { result, context in
        let value = try result.get().size + context  // error: 'OperationContext' to expected argument type 'Int'
        return value
    }
    _ = AsyncOperation(resultOf: page) { a, b, c in sample.title }  // error: expects 2 arguments, but 3 were used
    _ = AsyncOperation(resultOf: page) { a, b, c in  // error: expects 2 arguments, but 3 were used
        let value = sample.title
        return value
    }
}

func oneContextNamed() {
    _ = AsyncOperation("name", resultOf: page) { result, context in
        try result.get().titel  // error: has no member 'titel'
    }
    _ = AsyncOperation("name", resultOf: page) { result, context in
        let value = try result.get().titel  // error: has no member 'titel'
        return value
    }
    // The compiler does not name the mistake.
    _ = AsyncOperation("name", resultOf: page) { result, context in  // error: expects 1 argument, but 2 were used
        try result.get().size + context
    }
    _ = AsyncOperation("name", resultOf: page) { result, context in
        let value = try result.get().size + context  // error: 'OperationContext' to expected argument type 'Int'
        return value
    }
    _ = AsyncOperation("name", resultOf: page) { a, b, c in sample.title }  // error: expects 2 arguments
    _ = AsyncOperation("name", resultOf: page) { a, b, c in  // error: expects 2 arguments, but 3 were used
        let value = sample.title
        return value
    }
}

// MARK: - Two to eight outcomes

func twoResults() {
    _ = AsyncOperation(resultOf: page, page) { a, b in try b.get().titel }  // error: has no member 'titel'
    _ = AsyncOperation(resultOf: page, page) { a, b in
        let value = try b.get().titel  // error: has no member 'titel'
        return value
    }
    _ = AsyncOperation(resultOf: page, page) { a, b in try b.get().size + a }  // error: cannot convert value
    _ = AsyncOperation(resultOf: page, page) { a, b in
        let value = try b.get().size + a  // error: 'Result<Page, OperationError>' to expected argument type 'Int'
        return value
    }
    _ = AsyncOperation(resultOf: page, page) { a in sample.title }  // error: expects 2 arguments, but 1 was used
    _ = AsyncOperation(resultOf: page, page) { a in  // error: expects 2 arguments, but 1 was used
        let value = sample.title
        return value
    }
}

func twoResultsContext() {
    _ = AsyncOperation(resultOf: page, page) { a, b, context in
        try b.get().titel  // error: has no member 'titel'
    }
    _ = AsyncOperation(resultOf: page, page) { a, b, context in
        let value = try b.get().titel  // error: has no member 'titel'
        return value
    }
    _ = AsyncOperation(resultOf: page, page) { a, b, context in
        try b.get().size + a  // error: 'Result<Page, OperationError>' to expected argument type 'Int'
    }
    _ = AsyncOperation(resultOf: page, page) { a, b, context in
        let value = try b.get().size + a  // error: 'Result<Page, OperationError>' to expected argument type 'Int'
        return value
    }
    _ = AsyncOperation(resultOf: page, page) { a in sample.title }  // error: expects 2 arguments, but 1 was used
    _ = AsyncOperation(resultOf: page, page) { a in  // error: expects 2 arguments, but 1 was used
        let value = sample.title
        return value
    }
}

func twoResultsNamed() {
    _ = AsyncOperation("name", resultOf: page, page) { a, b in
        try b.get().titel  // error: has no member 'titel'
    }
    _ = AsyncOperation("name", resultOf: page, page) { a, b in
        let value = try b.get().titel  // error: has no member 'titel'
        return value
    }
    _ = AsyncOperation("name", resultOf: page, page) { a, b in
        try b.get().size + a  // error: 'Result<Page, OperationError>' to expected argument type 'Int'
    }
    _ = AsyncOperation("name", resultOf: page, page) { a, b in
        let value = try b.get().size + a  // error: 'Result<Page, OperationError>' to expected argument type 'Int'
        return value
    }
    _ = AsyncOperation("name", resultOf: page, page) { a in sample.title }  // error: expects 2 arguments
    _ = AsyncOperation("name", resultOf: page, page) { a in  // error: expects 2 arguments, but 1 was used
        let value = sample.title
        return value
    }
}

func twoResultsContextNamed() {
    _ = AsyncOperation("name", resultOf: page, page) { a, b, context in
        try b.get().titel  // error: has no member 'titel'
    }
    _ = AsyncOperation("name", resultOf: page, page) { a, b, context in
        let value = try b.get().titel  // error: has no member 'titel'
        return value
    }
    _ = AsyncOperation("name", resultOf: page, page) { a, b, context in
        try b.get().size + a  // error: 'Result<Page, OperationError>' to expected argument type 'Int'
    }
    _ = AsyncOperation("name", resultOf: page, page) { a, b, context in
        let value = try b.get().size + a  // error: 'Result<Page, OperationError>' to expected argument type 'Int'
        return value
    }
    _ = AsyncOperation("name", resultOf: page, page) { a in sample.title }  // error: expects 2 arguments
    _ = AsyncOperation("name", resultOf: page, page) { a in  // error: expects 2 arguments, but 1 was used
        let value = sample.title
        return value
    }
}

func threeResults() {
    _ = AsyncOperation(resultOf: page, page, page) { a, b, c in
        try c.get().titel  // error: has no member 'titel'
    }
    _ = AsyncOperation(resultOf: page, page, page) { a, b, c in
        let value = try c.get().titel  // error: has no member 'titel'
        return value
    }
    _ = AsyncOperation(resultOf: page, page, page) { a, b, c in
        try c.get().size + a  // error: 'Result<Page, OperationError>' to expected argument type 'Int'
    }
    _ = AsyncOperation(resultOf: page, page, page) { a, b, c in
        let value = try c.get().size + a  // error: 'Result<Page, OperationError>' to expected argument type 'Int'
        return value
    }
    _ = AsyncOperation(resultOf: page, page, page) { a in sample.title }  // error: expects 3 arguments, but 1 was used
    _ = AsyncOperation(resultOf: page, page, page) { a in  // error: expects 3 arguments, but 1 was used
        let value = sample.title
        return value
    }
}

func threeResultsContext() {
    _ = AsyncOperation(resultOf: page, page, page) { a, b, c, context in
        try c.get().titel  // error: has no member 'titel'
    }
    _ = AsyncOperation(resultOf: page, page, page) { a, b, c, context in
        let value = try c.get().titel  // error: has no member 'titel'
        return value
    }
}

func threeResultsNamed() {
    _ = AsyncOperation("name", resultOf: page, page, page) { a, b, c in
        try c.get().titel  // error: has no member 'titel'
    }
    _ = AsyncOperation("name", resultOf: page, page, page) { a, b, c in
        let value = try c.get().titel  // error: has no member 'titel'
        return value
    }
}

func threeResultsContextNamed() {
    _ = AsyncOperation("name", resultOf: page, page, page) { a, b, c, context in
        try c.get().titel  // error: has no member 'titel'
    }
    _ = AsyncOperation("name", resultOf: page, page, page) { a, b, c, context in
        let value = try c.get().titel  // error: has no member 'titel'
        return value
    }
}

func fourResults() {
    _ = AsyncOperation(resultOf: page, page, page, page) { a, b, c, d in
        try d.get().titel  // error: has no member 'titel'
    }
    _ = AsyncOperation(resultOf: page, page, page, page) { a, b, c, d in
        let value = try d.get().titel  // error: has no member 'titel'
        return value
    }
    _ = AsyncOperation(resultOf: page, page, page, page) { a, b, c, d in
        try d.get().size + a  // error: 'Result<Page, OperationError>' to expected argument type 'Int'
    }
    _ = AsyncOperation(resultOf: page, page, page, page) { a, b, c, d in
        let value = try d.get().size + a  // error: 'Result<Page, OperationError>' to expected argument type 'Int'
        return value
    }
    _ = AsyncOperation(resultOf: page, page, page, page) { a in sample.title }  // error: expects 4 arguments
    _ = AsyncOperation(resultOf: page, page, page, page) { a in  // error: expects 4 arguments, but 1 was used
        let value = sample.title
        return value
    }
}

func fourResultsContext() {
    _ = AsyncOperation(resultOf: page, page, page, page) { a, b, c, d, context in
        try d.get().titel  // error: has no member 'titel'
    }
    _ = AsyncOperation(resultOf: page, page, page, page) { a, b, c, d, context in
        let value = try d.get().titel  // error: has no member 'titel'
        return value
    }
}

func fourResultsNamed() {
    _ = AsyncOperation("name", resultOf: page, page, page, page) { a, b, c, d in
        try d.get().titel  // error: has no member 'titel'
    }
    _ = AsyncOperation("name", resultOf: page, page, page, page) { a, b, c, d in
        let value = try d.get().titel  // error: has no member 'titel'
        return value
    }
}

func fourResultsContextNamed() {
    _ = AsyncOperation("name", resultOf: page, page, page, page) { a, b, c, d, context in
        try d.get().titel  // error: has no member 'titel'
    }
    _ = AsyncOperation("name", resultOf: page, page, page, page) { a, b, c, d, context in
        let value = try d.get().titel  // error: has no member 'titel'
        return value
    }
}

func fiveResults() {
    _ = AsyncOperation(resultOf: page, page, page, page, page) { a, b, c, d, e in
        try e.get().titel  // error: has no member 'titel'
    }
    _ = AsyncOperation(resultOf: page, page, page, page, page) { a, b, c, d, e in
        let value = try e.get().titel  // error: has no member 'titel'
        return value
    }
    _ = AsyncOperation(resultOf: page, page, page, page, page) { a, b, c, d, e in
        try e.get().size + a  // error: 'Result<Page, OperationError>' to expected argument type 'Int'
    }
    _ = AsyncOperation(resultOf: page, page, page, page, page) { a, b, c, d, e in
        let value = try e.get().size + a  // error: 'Result<Page, OperationError>' to expected argument type 'Int'
        return value
    }
    _ = AsyncOperation(resultOf: page, page, page, page, page) { a in  // error: expects 5 arguments, but 1 was used
        sample.title
    }
    _ = AsyncOperation(resultOf: page, page, page, page, page) { a in  // error: expects 5 arguments, but 1 was used
        let value = sample.title
        return value
    }
}

func fiveResultsContext() {
    _ = AsyncOperation(resultOf: page, page, page, page, page) { a, b, c, d, e, context in
        try e.get().titel  // error: has no member 'titel'
    }
    _ = AsyncOperation(resultOf: page, page, page, page, page) { a, b, c, d, e, context in
        let value = try e.get().titel  // error: has no member 'titel'
        return value
    }
}

func fiveResultsNamed() {
    _ = AsyncOperation("name", resultOf: page, page, page, page, page) { a, b, c, d, e in
        try e.get().titel  // error: has no member 'titel'
    }
    _ = AsyncOperation("name", resultOf: page, page, page, page, page) { a, b, c, d, e in
        let value = try e.get().titel  // error: has no member 'titel'
        return value
    }
}

func fiveResultsContextNamed() {
    _ = AsyncOperation("name", resultOf: page, page, page, page, page) { a, b, c, d, e, context in
        try e.get().titel  // error: has no member 'titel'
    }
    _ = AsyncOperation("name", resultOf: page, page, page, page, page) { a, b, c, d, e, context in
        let value = try e.get().titel  // error: has no member 'titel'
        return value
    }
}

func sixResults() {
    _ = AsyncOperation(resultOf: page, page, page, page, page, page) { a, b, c, d, e, f in
        try f.get().titel  // error: has no member 'titel'
    }
    _ = AsyncOperation(resultOf: page, page, page, page, page, page) { a, b, c, d, e, f in
        let value = try f.get().titel  // error: has no member 'titel'
        return value
    }
    _ = AsyncOperation(resultOf: page, page, page, page, page, page) { a, b, c, d, e, f in
        try f.get().size + a  // error: 'Result<Page, OperationError>' to expected argument type 'Int'
    }
    _ = AsyncOperation(resultOf: page, page, page, page, page, page) { a, b, c, d, e, f in
        let value = try f.get().size + a  // error: 'Result<Page, OperationError>' to expected argument type 'Int'
        return value
    }
    _ = AsyncOperation(resultOf: page, page, page, page, page, page) { a in  // error: expects 6 arguments
        sample.title
    }
    _ = AsyncOperation(resultOf: page, page, page, page, page, page) { a in  // error: expects 6 arguments
        let value = sample.title
        return value
    }
}

func sixResultsContext() {
    _ = AsyncOperation(resultOf: page, page, page, page, page, page) { a, b, c, d, e, f, context in
        try f.get().titel  // error: has no member 'titel'
    }
    _ = AsyncOperation(resultOf: page, page, page, page, page, page) { a, b, c, d, e, f, context in
        let value = try f.get().titel  // error: has no member 'titel'
        return value
    }
}

func sixResultsNamed() {
    _ = AsyncOperation("name", resultOf: page, page, page, page, page, page) { a, b, c, d, e, f in
        try f.get().titel  // error: has no member 'titel'
    }
    _ = AsyncOperation("name", resultOf: page, page, page, page, page, page) { a, b, c, d, e, f in
        let value = try f.get().titel  // error: has no member 'titel'
        return value
    }
}

func sixResultsContextNamed() {
    _ = AsyncOperation("name", resultOf: page, page, page, page, page, page) { a, b, c, d, e, f, context in
        try f.get().titel  // error: has no member 'titel'
    }
    _ = AsyncOperation("name", resultOf: page, page, page, page, page, page) { a, b, c, d, e, f, context in
        let value = try f.get().titel  // error: has no member 'titel'
        return value
    }
}

func sevenResults() {
    _ = AsyncOperation(resultOf: page, page, page, page, page, page, page) { a, b, c, d, e, f, g in
        try g.get().titel  // error: has no member 'titel'
    }
    _ = AsyncOperation(resultOf: page, page, page, page, page, page, page) { a, b, c, d, e, f, g in
        let value = try g.get().titel  // error: has no member 'titel'
        return value
    }
    _ = AsyncOperation(resultOf: page, page, page, page, page, page, page) { a, b, c, d, e, f, g in
        try g.get().size + a  // error: 'Result<Page, OperationError>' to expected argument type 'Int'
    }
    _ = AsyncOperation(resultOf: page, page, page, page, page, page, page) { a, b, c, d, e, f, g in
        let value = try g.get().size + a  // error: 'Result<Page, OperationError>' to expected argument type 'Int'
        return value
    }
    _ = AsyncOperation(resultOf: page, page, page, page, page, page, page) { a in  // error: expects 7 arguments
        sample.title
    }
    _ = AsyncOperation(resultOf: page, page, page, page, page, page, page) { a in  // error: expects 7 arguments
        let value = sample.title
        return value
    }
}

func sevenResultsContext() {
    _ = AsyncOperation(resultOf: page, page, page, page, page, page, page) { a, b, c, d, e, f, g, context in
        try g.get().titel  // error: has no member 'titel'
    }
    _ = AsyncOperation(resultOf: page, page, page, page, page, page, page) { a, b, c, d, e, f, g, context in
        let value = try g.get().titel  // error: has no member 'titel'
        return value
    }
}

func sevenResultsNamed() {
    _ = AsyncOperation("name", resultOf: page, page, page, page, page, page, page) { a, b, c, d, e, f, g in
        try g.get().titel  // error: has no member 'titel'
    }
    _ = AsyncOperation("name", resultOf: page, page, page, page, page, page, page) { a, b, c, d, e, f, g in
        let value = try g.get().titel  // error: has no member 'titel'
        return value
    }
}

func sevenResultsContextNamed() {
    _ = AsyncOperation("name", resultOf: page, page, page, page, page, page, page) { a, b, c, d, e, f, g, context in
        try g.get().titel  // error: has no member 'titel'
    }
    _ = AsyncOperation("name", resultOf: page, page, page, page, page, page, page) { a, b, c, d, e, f, g, context in
        let value = try g.get().titel  // error: has no member 'titel'
        return value
    }
}

func eightResults() {
    _ = AsyncOperation(resultOf: page, page, page, page, page, page, page, page) { a, b, c, d, e, f, g, h in
        try h.get().titel  // error: has no member 'titel'
    }
    _ = AsyncOperation(resultOf: page, page, page, page, page, page, page, page) { a, b, c, d, e, f, g, h in
        let value = try h.get().titel  // error: has no member 'titel'
        return value
    }
    _ = AsyncOperation(resultOf: page, page, page, page, page, page, page, page) { a, b, c, d, e, f, g, h in
        try h.get().size + a  // error: 'Result<Page, OperationError>' to expected argument type 'Int'
    }
    _ = AsyncOperation(resultOf: page, page, page, page, page, page, page, page) { a, b, c, d, e, f, g, h in
        let value = try h.get().size + a  // error: 'Result<Page, OperationError>' to expected argument type 'Int'
        return value
    }
    _ = AsyncOperation(resultOf: page, page, page, page, page, page, page, page) { a in  // error: expects 8 arguments
        sample.title
    }
    _ = AsyncOperation(resultOf: page, page, page, page, page, page, page, page) { a in  // error: expects 8 arguments
        let value = sample.title
        return value
    }
}

func eightResultsContext() {
    _ = AsyncOperation(resultOf: page, page, page, page, page, page, page, page) { a, b, c, d, e, f, g, h, context in
        try h.get().titel  // error: has no member 'titel'
    }
    _ = AsyncOperation(resultOf: page, page, page, page, page, page, page, page) { a, b, c, d, e, f, g, h, context in
        let value = try h.get().titel  // error: has no member 'titel'
        return value
    }
    _ = AsyncOperation(resultOf: page, page, page, page, page, page, page, page) { a, b, c, d, e, f, g, h, context in
        try h.get().size + a  // error: 'Result<Page, OperationError>' to expected argument type 'Int'
    }
    _ = AsyncOperation(resultOf: page, page, page, page, page, page, page, page) { a, b, c, d, e, f, g, h, context in
        let value = try h.get().size + a  // error: 'Result<Page, OperationError>' to expected argument type 'Int'
        return value
    }
    _ = AsyncOperation(resultOf: page, page, page, page, page, page, page, page) { a in  // error: expects 8 arguments
        sample.title
    }
    _ = AsyncOperation(resultOf: page, page, page, page, page, page, page, page) { a in  // error: expects 8 arguments
        let value = sample.title
        return value
    }
}

func eightResultsNamed() {
    _ = AsyncOperation("name", resultOf: page, page, page, page, page, page, page, page) { a, b, c, d, e, f, g, h in
        try h.get().titel  // error: has no member 'titel'
    }
    _ = AsyncOperation("name", resultOf: page, page, page, page, page, page, page, page) { a, b, c, d, e, f, g, h in
        let value = try h.get().titel  // error: has no member 'titel'
        return value
    }
    _ = AsyncOperation("name", resultOf: page, page, page, page, page, page, page, page) { a, b, c, d, e, f, g, h in
        try h.get().size + a  // error: 'Result<Page, OperationError>' to expected argument type 'Int'
    }
    _ = AsyncOperation("name", resultOf: page, page, page, page, page, page, page, page) { a, b, c, d, e, f, g, h in
        let value = try h.get().size + a  // error: 'Result<Page, OperationError>' to expected argument type 'Int'
        return value
    }
    _ = AsyncOperation("name", resultOf: page, page, page, page, page, page, page, page) { a in  // error: expects
        sample.title
    }
    _ = AsyncOperation("name", resultOf: page, page, page, page, page, page, page, page) { a in  // error: expects
        let value = sample.title
        return value
    }
}

func eightResultsContextNamed() {
    _ = AsyncOperation("name", resultOf: page, page, page, page, page, page, page, page) {
        a, b, c, d, e, f, g, h, context in
        try h.get().titel  // error: has no member 'titel'
    }
    _ = AsyncOperation("name", resultOf: page, page, page, page, page, page, page, page) {
        a, b, c, d, e, f, g, h, context in
        let value = try h.get().titel  // error: has no member 'titel'
        return value
    }
    _ = AsyncOperation("name", resultOf: page, page, page, page, page, page, page, page) {
        a, b, c, d, e, f, g, h, context in
        try h.get().size + a  // error: 'Result<Page, OperationError>' to expected argument type 'Int'
    }
    _ = AsyncOperation("name", resultOf: page, page, page, page, page, page, page, page) {
        a, b, c, d, e, f, g, h, context in
        let value = try h.get().size + a  // error: 'Result<Page, OperationError>' to expected argument type 'Int'
        return value
    }
    _ = AsyncOperation("name", resultOf: page, page, page, page, page, page, page, page) { a in  // error: expects
        sample.title
    }
    _ = AsyncOperation("name", resultOf: page, page, page, page, page, page, page, page) { a in  // error: expects
        let value = sample.title
        return value
    }
}

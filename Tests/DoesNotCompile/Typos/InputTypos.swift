// Mistakes in closures over the outputs of one to eight inputs.
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

// MARK: - One input

func one() {
    _ = AsyncOperation(page) { page in page.titel }  // error: has no member 'titel'
    _ = AsyncOperation(page) { page in
        let value = page.titel  // error: has no member 'titel'
        return value
    }
    _ = AsyncOperation(page) { page in page.size + page.title }  // error: cannot be applied to operands
    _ = AsyncOperation(page) { page in
        let value = page.size + page.title  // error: cannot be applied to operands of type 'Int' and 'String'
        return value
    }
    _ = AsyncOperation(page) { a, b, c in sample.title }  // error: expects 2 arguments, but 3 were used
    _ = AsyncOperation(page) { a, b, c in  // error: expects 2 arguments, but 3 were used
        let value = sample.title
        return value
    }
}

func oneNamed() {
    _ = AsyncOperation("name", page) { page in page.titel }  // error: has no member 'titel'
    _ = AsyncOperation("name", page) { page in
        let value = page.titel  // error: has no member 'titel'
        return value
    }
    _ = AsyncOperation("name", page) { page in page.size + page.title }  // error: cannot be applied to operands
    _ = AsyncOperation("name", page) { page in
        let value = page.size + page.title  // error: cannot be applied to operands of type 'Int' and 'String'
        return value
    }
    _ = AsyncOperation("name", page) { a, b, c in sample.title }  // error: expects 2 arguments, but 3 were used
    _ = AsyncOperation("name", page) { a, b, c in  // error: expects 2 arguments, but 3 were used
        let value = sample.title
        return value
    }
}

func fallback() {
    _ = AsyncOperation(page, default: sample) { page in page.titel }  // error: has no member 'titel'
    _ = AsyncOperation(page, default: sample) { page in
        let value = page.titel  // error: has no member 'titel'
        return value
    }
    // The compiler names the line, but neither the mistake nor anything else.
    _ = AsyncOperation(page, default: sample) { page in page.size + page.title }  // error: failed to produce diagnostic
    // The compiler names the line, but neither the mistake nor anything else.
    _ = AsyncOperation(page, default: sample) { page in  // error: failed to produce diagnostic for expression
        let value = page.size + page.title
        return value
    }
    _ = AsyncOperation(page, default: sample) { a, b, c in sample.title }  // error: expects 1 argument, but 3 were used
    _ = AsyncOperation(page, default: sample) { a, b, c in  // error: expects 1 argument, but 3 were used
        let value = sample.title
        return value
    }
}

func fallbackNamed() {
    _ = AsyncOperation("name", page, default: sample) { page in page.titel }  // error: has no member 'titel'
    _ = AsyncOperation("name", page, default: sample) { page in
        let value = page.titel  // error: has no member 'titel'
        return value
    }
    _ = AsyncOperation("name", page, default: sample) { page in
        page.size + page.title  // error: cannot be applied to operands of type 'Int' and 'String'
    }
    _ = AsyncOperation("name", page, default: sample) { page in
        let value = page.size + page.title  // error: cannot be applied to operands of type 'Int' and 'String'
        return value
    }
    _ = AsyncOperation("name", page, default: sample) { a, b, c in  // error: expects 1 argument, but 3 were used
        sample.title
    }
    _ = AsyncOperation("name", page, default: sample) { a, b, c in  // error: expects 1 argument, but 3 were used
        let value = sample.title
        return value
    }
}

func oneContext() {
    // Without types, the compiler expects a closure without a context.
    _ = AsyncOperation(page) { page, context in page.title + context.attemt }  // error: expects 1 argument
    // Without types, the compiler expects a closure without a context.
    _ = AsyncOperation(page) { page, context in  // error: expects 1 argument, but 2 were used
        let value = page.title + context.attemt
        return value
    }
    _ = AsyncOperation(page) { page, context in page.title + context.attempt }  // error: cannot be applied to operands
    _ = AsyncOperation(page) { page, context in
        let value = page.title + context.attempt  // error: cannot be applied to operands of type 'String' and 'Int'
        return value
    }
    _ = AsyncOperation(page) { a, b, c in sample.title }  // error: expects 2 arguments, but 3 were used
    _ = AsyncOperation(page) { a, b, c in  // error: expects 2 arguments, but 3 were used
        let value = sample.title
        return value
    }
}

func oneContextNamed() {
    // Without types, the compiler expects a closure without a context.
    _ = AsyncOperation("name", page) { page, context in  // error: expects 1 argument, but 2 were used
        page.title + context.attemt
    }
    // Without types, the compiler expects a closure without a context.
    _ = AsyncOperation("name", page) { page, context in  // error: expects 1 argument, but 2 were used
        let value = page.title + context.attemt
        return value
    }
    _ = AsyncOperation("name", page) { page, context in
        page.title + context.attempt  // error: cannot be applied to operands of type 'String' and 'Int'
    }
    _ = AsyncOperation("name", page) { page, context in
        let value = page.title + context.attempt  // error: cannot be applied to operands of type 'String' and 'Int'
        return value
    }
    // The compiler does not name the mistake if the output depends on it.
    _ = AsyncOperation("name", page) { page, context in page.titel }  // error: type 'AsyncOperation<First>'
    _ = AsyncOperation("name", page) { a, b, c in sample.title }  // error: expects 2 arguments, but 3 were used
    _ = AsyncOperation("name", page) { a, b, c in  // error: expects 2 arguments, but 3 were used
        let value = sample.title
        return value
    }
}

func oneTypedContext() {
    _ = AsyncOperation(page) { (page: Page, context: OperationContext) in
        page.size + context.attemt  // error: has no member 'attemt'
    }
    _ = AsyncOperation(page) { (page: Page, context: OperationContext) in
        let value = page.size + context.attemt  // error: has no member 'attemt'
        return value
    }
    _ = AsyncOperation(page) { (page: Page, context: OperationContext) in
        page.title + context.attempt  // error: cannot be applied to operands of type 'String' and 'Int'
    }
    _ = AsyncOperation(page) { (page: Page, context: OperationContext) in
        let value = page.title + context.attempt  // error: cannot be applied to operands of type 'String' and 'Int'
        return value
    }
}

func oneTypedContextNamed() {
    _ = AsyncOperation("name", page) { (page: Page, context: OperationContext) in
        page.size + context.attemt  // error: has no member 'attemt'
    }
    _ = AsyncOperation("name", page) { (page: Page, context: OperationContext) in
        let value = page.size + context.attemt  // error: has no member 'attemt'
        return value
    }
    _ = AsyncOperation("name", page) { (page: Page, context: OperationContext) in
        page.title + context.attempt  // error: cannot be applied to operands of type 'String' and 'Int'
    }
    _ = AsyncOperation("name", page) { (page: Page, context: OperationContext) in
        let value = page.title + context.attempt  // error: cannot be applied to operands of type 'String' and 'Int'
        return value
    }
}

// MARK: - Too many inputs

func nine() {
    // The compiler does not count the inputs.
    _ = AsyncOperation(page, page, page, page, page, page, page, page, page) {  // error: argument type 'String'
        a, b, c, d, e, f, g, h, i in
        sample
    }
    // The compiler does not count the inputs.
    _ = AsyncOperation("name", page, page, page, page, page, page, page, page, page) {  // error: extra trailing closure
        a, b, c, d, e, f, g, h, i in
        sample
    }
}

func twoFallbacks() {
    // The compiler does not count the inputs.
    _ = AsyncOperation(page, page, default: sample) { a, b in sample }  // error: argument type 'String'
    // The compiler does not count the inputs.
    _ = AsyncOperation("name", page, page, default: sample) { a, b in sample }  // error: extra trailing closure
}

// MARK: - Two to eight inputs

func two() {
    _ = AsyncOperation(page, page) { a, b in b.titel }  // error: has no member 'titel'
    _ = AsyncOperation(page, page) { a, b in
        let value = b.titel  // error: has no member 'titel'
        return value
    }
    _ = AsyncOperation(page, page) { a, b in b.size + a }  // error: 'Page' to expected argument type 'Int'
    _ = AsyncOperation(page, page) { a, b in
        let value = b.size + a  // error: 'Page' to expected argument type 'Int'
        return value
    }
    _ = AsyncOperation(page, page) { a in sample.title }  // error: expects 2 arguments, but 1 was used
    _ = AsyncOperation(page, page) { a in  // error: expects 2 arguments, but 1 was used
        let value = sample.title
        return value
    }
}

func twoContext() {
    _ = AsyncOperation(page, page) { a, b, context in b.titel }  // error: has no member 'titel'
    _ = AsyncOperation(page, page) { a, b, context in
        let value = b.titel  // error: has no member 'titel'
        return value
    }
    _ = AsyncOperation(page, page) { a, b, context in b.size + a }  // error: 'Page' to expected argument type 'Int'
    _ = AsyncOperation(page, page) { a, b, context in
        let value = b.size + a  // error: 'Page' to expected argument type 'Int'
        return value
    }
    _ = AsyncOperation(page, page) { a in sample.title }  // error: expects 2 arguments, but 1 was used
    _ = AsyncOperation(page, page) { a in  // error: expects 2 arguments, but 1 was used
        let value = sample.title
        return value
    }
}

func twoNamed() {
    _ = AsyncOperation("name", page, page) { a, b in b.titel }  // error: has no member 'titel'
    _ = AsyncOperation("name", page, page) { a, b in
        let value = b.titel  // error: has no member 'titel'
        return value
    }
    _ = AsyncOperation("name", page, page) { a, b in b.size + a }  // error: 'Page' to expected argument type 'Int'
    _ = AsyncOperation("name", page, page) { a, b in
        let value = b.size + a  // error: 'Page' to expected argument type 'Int'
        return value
    }
    _ = AsyncOperation("name", page, page) { a in sample.title }  // error: expects 2 arguments, but 1 was used
    _ = AsyncOperation("name", page, page) { a in  // error: expects 2 arguments, but 1 was used
        let value = sample.title
        return value
    }
}

func twoContextNamed() {
    _ = AsyncOperation("name", page, page) { a, b, context in b.titel }  // error: has no member 'titel'
    _ = AsyncOperation("name", page, page) { a, b, context in
        let value = b.titel  // error: has no member 'titel'
        return value
    }
    _ = AsyncOperation("name", page, page) { a, b, context in b.size + a }  // error: cannot convert value
    _ = AsyncOperation("name", page, page) { a, b, context in
        let value = b.size + a  // error: 'Page' to expected argument type 'Int'
        return value
    }
    _ = AsyncOperation("name", page, page) { a in sample.title }  // error: expects 2 arguments, but 1 was used
    _ = AsyncOperation("name", page, page) { a in  // error: expects 2 arguments, but 1 was used
        let value = sample.title
        return value
    }
}

func three() {
    _ = AsyncOperation(page, page, page) { a, b, c in c.titel }  // error: has no member 'titel'
    _ = AsyncOperation(page, page, page) { a, b, c in
        let value = c.titel  // error: has no member 'titel'
        return value
    }
    _ = AsyncOperation(page, page, page) { a, b, c in c.size + a }  // error: 'Page' to expected argument type 'Int'
    _ = AsyncOperation(page, page, page) { a, b, c in
        let value = c.size + a  // error: 'Page' to expected argument type 'Int'
        return value
    }
    _ = AsyncOperation(page, page, page) { a in sample.title }  // error: expects 3 arguments, but 1 was used
    _ = AsyncOperation(page, page, page) { a in  // error: expects 3 arguments, but 1 was used
        let value = sample.title
        return value
    }
}

func threeContext() {
    _ = AsyncOperation(page, page, page) { a, b, c, context in c.titel }  // error: has no member 'titel'
    _ = AsyncOperation(page, page, page) { a, b, c, context in
        let value = c.titel  // error: has no member 'titel'
        return value
    }
}

func threeNamed() {
    _ = AsyncOperation("name", page, page, page) { a, b, c in c.titel }  // error: has no member 'titel'
    _ = AsyncOperation("name", page, page, page) { a, b, c in
        let value = c.titel  // error: has no member 'titel'
        return value
    }
}

func threeContextNamed() {
    _ = AsyncOperation("name", page, page, page) { a, b, c, context in c.titel }  // error: has no member 'titel'
    _ = AsyncOperation("name", page, page, page) { a, b, c, context in
        let value = c.titel  // error: has no member 'titel'
        return value
    }
}

func four() {
    _ = AsyncOperation(page, page, page, page) { a, b, c, d in d.titel }  // error: has no member 'titel'
    _ = AsyncOperation(page, page, page, page) { a, b, c, d in
        let value = d.titel  // error: has no member 'titel'
        return value
    }
    _ = AsyncOperation(page, page, page, page) { a, b, c, d in d.size + a }  // error: cannot convert value
    _ = AsyncOperation(page, page, page, page) { a, b, c, d in
        let value = d.size + a  // error: 'Page' to expected argument type 'Int'
        return value
    }
    _ = AsyncOperation(page, page, page, page) { a in sample.title }  // error: expects 4 arguments, but 1 was used
    _ = AsyncOperation(page, page, page, page) { a in  // error: expects 4 arguments, but 1 was used
        let value = sample.title
        return value
    }
}

func fourContext() {
    _ = AsyncOperation(page, page, page, page) { a, b, c, d, context in
        d.titel  // error: has no member 'titel'
    }
    _ = AsyncOperation(page, page, page, page) { a, b, c, d, context in
        let value = d.titel  // error: has no member 'titel'
        return value
    }
}

func fourNamed() {
    _ = AsyncOperation("name", page, page, page, page) { a, b, c, d in d.titel }  // error: has no member 'titel'
    _ = AsyncOperation("name", page, page, page, page) { a, b, c, d in
        let value = d.titel  // error: has no member 'titel'
        return value
    }
}

func fourContextNamed() {
    _ = AsyncOperation("name", page, page, page, page) { a, b, c, d, context in
        d.titel  // error: has no member 'titel'
    }
    _ = AsyncOperation("name", page, page, page, page) { a, b, c, d, context in
        let value = d.titel  // error: has no member 'titel'
        return value
    }
}

func five() {
    _ = AsyncOperation(page, page, page, page, page) { a, b, c, d, e in
        e.titel  // error: has no member 'titel'
    }
    _ = AsyncOperation(page, page, page, page, page) { a, b, c, d, e in
        let value = e.titel  // error: has no member 'titel'
        return value
    }
    _ = AsyncOperation(page, page, page, page, page) { a, b, c, d, e in
        e.size + a  // error: 'Page' to expected argument type 'Int'
    }
    _ = AsyncOperation(page, page, page, page, page) { a, b, c, d, e in
        let value = e.size + a  // error: 'Page' to expected argument type 'Int'
        return value
    }
    _ = AsyncOperation(page, page, page, page, page) { a in sample.title }  // error: expects 5 arguments
    _ = AsyncOperation(page, page, page, page, page) { a in  // error: expects 5 arguments, but 1 was used
        let value = sample.title
        return value
    }
}

func fiveContext() {
    _ = AsyncOperation(page, page, page, page, page) { a, b, c, d, e, context in
        e.titel  // error: has no member 'titel'
    }
    _ = AsyncOperation(page, page, page, page, page) { a, b, c, d, e, context in
        let value = e.titel  // error: has no member 'titel'
        return value
    }
}

func fiveNamed() {
    _ = AsyncOperation("name", page, page, page, page, page) { a, b, c, d, e in
        e.titel  // error: has no member 'titel'
    }
    _ = AsyncOperation("name", page, page, page, page, page) { a, b, c, d, e in
        let value = e.titel  // error: has no member 'titel'
        return value
    }
}

func fiveContextNamed() {
    _ = AsyncOperation("name", page, page, page, page, page) { a, b, c, d, e, context in
        e.titel  // error: has no member 'titel'
    }
    _ = AsyncOperation("name", page, page, page, page, page) { a, b, c, d, e, context in
        let value = e.titel  // error: has no member 'titel'
        return value
    }
}

func six() {
    _ = AsyncOperation(page, page, page, page, page, page) { a, b, c, d, e, f in
        f.titel  // error: has no member 'titel'
    }
    _ = AsyncOperation(page, page, page, page, page, page) { a, b, c, d, e, f in
        let value = f.titel  // error: has no member 'titel'
        return value
    }
    _ = AsyncOperation(page, page, page, page, page, page) { a, b, c, d, e, f in
        f.size + a  // error: 'Page' to expected argument type 'Int'
    }
    _ = AsyncOperation(page, page, page, page, page, page) { a, b, c, d, e, f in
        let value = f.size + a  // error: 'Page' to expected argument type 'Int'
        return value
    }
    _ = AsyncOperation(page, page, page, page, page, page) { a in sample.title }  // error: expects 6 arguments
    _ = AsyncOperation(page, page, page, page, page, page) { a in  // error: expects 6 arguments, but 1 was used
        let value = sample.title
        return value
    }
}

func sixContext() {
    _ = AsyncOperation(page, page, page, page, page, page) { a, b, c, d, e, f, context in
        f.titel  // error: has no member 'titel'
    }
    _ = AsyncOperation(page, page, page, page, page, page) { a, b, c, d, e, f, context in
        let value = f.titel  // error: has no member 'titel'
        return value
    }
}

func sixNamed() {
    _ = AsyncOperation("name", page, page, page, page, page, page) { a, b, c, d, e, f in
        f.titel  // error: has no member 'titel'
    }
    _ = AsyncOperation("name", page, page, page, page, page, page) { a, b, c, d, e, f in
        let value = f.titel  // error: has no member 'titel'
        return value
    }
}

func sixContextNamed() {
    _ = AsyncOperation("name", page, page, page, page, page, page) { a, b, c, d, e, f, context in
        f.titel  // error: has no member 'titel'
    }
    _ = AsyncOperation("name", page, page, page, page, page, page) { a, b, c, d, e, f, context in
        let value = f.titel  // error: has no member 'titel'
        return value
    }
}

func seven() {
    _ = AsyncOperation(page, page, page, page, page, page, page) { a, b, c, d, e, f, g in
        g.titel  // error: has no member 'titel'
    }
    _ = AsyncOperation(page, page, page, page, page, page, page) { a, b, c, d, e, f, g in
        let value = g.titel  // error: has no member 'titel'
        return value
    }
    _ = AsyncOperation(page, page, page, page, page, page, page) { a, b, c, d, e, f, g in
        g.size + a  // error: 'Page' to expected argument type 'Int'
    }
    _ = AsyncOperation(page, page, page, page, page, page, page) { a, b, c, d, e, f, g in
        let value = g.size + a  // error: 'Page' to expected argument type 'Int'
        return value
    }
    _ = AsyncOperation(page, page, page, page, page, page, page) { a in  // error: expects 7 arguments, but 1 was used
        sample.title
    }
    _ = AsyncOperation(page, page, page, page, page, page, page) { a in  // error: expects 7 arguments, but 1 was used
        let value = sample.title
        return value
    }
}

func sevenContext() {
    _ = AsyncOperation(page, page, page, page, page, page, page) { a, b, c, d, e, f, g, context in
        g.titel  // error: has no member 'titel'
    }
    _ = AsyncOperation(page, page, page, page, page, page, page) { a, b, c, d, e, f, g, context in
        let value = g.titel  // error: has no member 'titel'
        return value
    }
}

func sevenNamed() {
    _ = AsyncOperation("name", page, page, page, page, page, page, page) { a, b, c, d, e, f, g in
        g.titel  // error: has no member 'titel'
    }
    _ = AsyncOperation("name", page, page, page, page, page, page, page) { a, b, c, d, e, f, g in
        let value = g.titel  // error: has no member 'titel'
        return value
    }
}

func sevenContextNamed() {
    _ = AsyncOperation("name", page, page, page, page, page, page, page) { a, b, c, d, e, f, g, context in
        g.titel  // error: has no member 'titel'
    }
    _ = AsyncOperation("name", page, page, page, page, page, page, page) { a, b, c, d, e, f, g, context in
        let value = g.titel  // error: has no member 'titel'
        return value
    }
}

func eight() {
    _ = AsyncOperation(page, page, page, page, page, page, page, page) { a, b, c, d, e, f, g, h in
        h.titel  // error: has no member 'titel'
    }
    _ = AsyncOperation(page, page, page, page, page, page, page, page) { a, b, c, d, e, f, g, h in
        let value = h.titel  // error: has no member 'titel'
        return value
    }
    _ = AsyncOperation(page, page, page, page, page, page, page, page) { a, b, c, d, e, f, g, h in
        h.size + a  // error: 'Page' to expected argument type 'Int'
    }
    _ = AsyncOperation(page, page, page, page, page, page, page, page) { a, b, c, d, e, f, g, h in
        let value = h.size + a  // error: 'Page' to expected argument type 'Int'
        return value
    }
    _ = AsyncOperation(page, page, page, page, page, page, page, page) { a in  // error: expects 8 arguments
        sample.title
    }
    _ = AsyncOperation(page, page, page, page, page, page, page, page) { a in  // error: expects 8 arguments
        let value = sample.title
        return value
    }
}

func eightContext() {
    _ = AsyncOperation(page, page, page, page, page, page, page, page) { a, b, c, d, e, f, g, h, context in
        h.titel  // error: has no member 'titel'
    }
    _ = AsyncOperation(page, page, page, page, page, page, page, page) { a, b, c, d, e, f, g, h, context in
        let value = h.titel  // error: has no member 'titel'
        return value
    }
    _ = AsyncOperation(page, page, page, page, page, page, page, page) { a, b, c, d, e, f, g, h, context in
        h.size + a  // error: 'Page' to expected argument type 'Int'
    }
    _ = AsyncOperation(page, page, page, page, page, page, page, page) { a, b, c, d, e, f, g, h, context in
        let value = h.size + a  // error: 'Page' to expected argument type 'Int'
        return value
    }
    _ = AsyncOperation(page, page, page, page, page, page, page, page) { a in  // error: expects 8 arguments
        sample.title
    }
    _ = AsyncOperation(page, page, page, page, page, page, page, page) { a in  // error: expects 8 arguments
        let value = sample.title
        return value
    }
}

func eightNamed() {
    _ = AsyncOperation("name", page, page, page, page, page, page, page, page) { a, b, c, d, e, f, g, h in
        h.titel  // error: has no member 'titel'
    }
    _ = AsyncOperation("name", page, page, page, page, page, page, page, page) { a, b, c, d, e, f, g, h in
        let value = h.titel  // error: has no member 'titel'
        return value
    }
    _ = AsyncOperation("name", page, page, page, page, page, page, page, page) { a, b, c, d, e, f, g, h in
        h.size + a  // error: 'Page' to expected argument type 'Int'
    }
    _ = AsyncOperation("name", page, page, page, page, page, page, page, page) { a, b, c, d, e, f, g, h in
        let value = h.size + a  // error: 'Page' to expected argument type 'Int'
        return value
    }
    _ = AsyncOperation("name", page, page, page, page, page, page, page, page) { a in  // error: expects 8 arguments
        sample.title
    }
    _ = AsyncOperation("name", page, page, page, page, page, page, page, page) { a in  // error: expects 8 arguments
        let value = sample.title
        return value
    }
}

func eightContextNamed() {
    _ = AsyncOperation("name", page, page, page, page, page, page, page, page) { a, b, c, d, e, f, g, h, context in
        h.titel  // error: has no member 'titel'
    }
    _ = AsyncOperation("name", page, page, page, page, page, page, page, page) { a, b, c, d, e, f, g, h, context in
        let value = h.titel  // error: has no member 'titel'
        return value
    }
    _ = AsyncOperation("name", page, page, page, page, page, page, page, page) { a, b, c, d, e, f, g, h, context in
        h.size + a  // error: 'Page' to expected argument type 'Int'
    }
    _ = AsyncOperation("name", page, page, page, page, page, page, page, page) { a, b, c, d, e, f, g, h, context in
        let value = h.size + a  // error: 'Page' to expected argument type 'Int'
        return value
    }
    _ = AsyncOperation("name", page, page, page, page, page, page, page, page) { a in  // error: expects 8 arguments
        sample.title
    }
    _ = AsyncOperation("name", page, page, page, page, page, page, page, page) { a in  // error: expects 8 arguments
        let value = sample.title
        return value
    }
}

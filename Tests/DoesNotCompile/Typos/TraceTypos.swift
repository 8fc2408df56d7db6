// Mistakes in closures of `BatonTrace`.
// Each mistake stands in one statement and in several. "error: …" is in the message for its line.
import Baton
import BatonTrace

struct Page: Sendable {
    let title: String
    let size: Int
}

let sample = Page(title: "", size: 0)

// MARK: - Stages of a trace

func summary(_ trace: Trace) {
    _ = trace.summary { reference in reference.nmae }  // error: has no member 'nmae'
    _ = trace.summary { reference in
        let value = reference.nmae  // error: has no member 'nmae'
        return value
    }
    _ = trace.summary { reference in sample.size }  // error: 'Int' to closure result type 'String'
    _ = trace.summary { reference in
        let value = sample.size
        return value  // error: 'Int' to closure result type 'String'
    }
    _ = trace.summary { a, b in "" }  // error: expects 1 argument, but 2 were used
    _ = trace.summary { a, b in  // error: expects 1 argument, but 2 were used
        let value = ""
        return value
    }
}

func timeline(_ trace: Trace) {
    _ = trace.timeline { reference in reference.nmae }  // error: has no member 'nmae'
    _ = trace.timeline { reference in
        let value = reference.nmae  // error: has no member 'nmae'
        return value
    }
    _ = trace.timeline { reference in sample.size }  // error: 'Int' to closure result type 'String'
    _ = trace.timeline { reference in
        let value = sample.size
        return value  // error: 'Int' to closure result type 'String'
    }
    _ = trace.timeline { a, b in "" }  // error: expects 1 argument, but 2 were used
    _ = trace.timeline { a, b in  // error: expects 1 argument, but 2 were used
        let value = ""
        return value
    }
}

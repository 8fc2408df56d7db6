// Mistakes in closures of `BatonFoundation`.
// Each mistake stands in one statement and in several. "error: …" is in the message for its line.
import Baton
import BatonFoundation
import Foundation

struct Page: Sendable {
    let title: String
    let size: Int
}

let sample = Page(title: "", size: 0)

// MARK: - Foundation operations

func make() {
    _ = FoundationProcedure { BlockOperation.mak() }  // error: has no member 'mak'
    _ = FoundationProcedure {
        let value = BlockOperation.mak()  // error: has no member 'mak'
        return value
    }
    _ = FoundationProcedure { BlockOperation(block: 3) }  // error: cannot convert value
    _ = FoundationProcedure {
        let value = BlockOperation(block: 3)  // error: 'Int' to expected argument type '@Sendable () -> Void'
        return value
    }
    _ = FoundationProcedure { a, b in BlockOperation() }  // error: expects 0 arguments, but 2 were used
    _ = FoundationProcedure { a, b in  // error: expects 0 arguments, but 2 were used
        let value = BlockOperation()
        return value
    }
}

func makeOutput() {
    // The compiler does not name the mistake.
    _ = FoundationProcedure {
        BlockOperation()
    } output: { operation in
        operation.nmae  // error: reference to member 'nmae' cannot be resolved without a contextual type
    }
    // The compiler does not name the mistake.
    _ = FoundationProcedure {
        BlockOperation()
    } output: { operation in
        let value = operation.nmae  // error: reference to member 'nmae' cannot be resolved without a contextual type
        return value
    }
    _ = FoundationProcedure {
        BlockOperation()
    } output: { operation in
        operation.name + 1  // error: 'String?' to expected argument type 'Int'
    }
    // The compiler does not name the mistake.
    _ = FoundationProcedure {  // error: conflicting arguments to generic parameter 'Performed' ('Operation' vs. 'BlockO
        BlockOperation()
    } output: { operation in
        let value = operation.name + 1
        return value
    }
    _ = FoundationProcedure {
        BlockOperation()
    } output: { a, b in  // error: expects 1 argument, but 2 were used
        sample.title
    }
    _ = FoundationProcedure {
        BlockOperation()
    } output: { a, b in  // error: expects 1 argument, but 2 were used
        let value = sample.title
        return value
    }
}

func foundation() {
    // The compiler does not name the mistake.
    _ = AsyncOperation(foundation: BlockOperation()) { operation in
        operation.nmae  // error: reference to member 'nmae' cannot be resolved without a contextual type
    }
    // The compiler does not name the mistake.
    _ = AsyncOperation(foundation: BlockOperation()) { operation in
        let value = operation.nmae  // error: reference to member 'nmae' cannot be resolved without a contextual type
        return value
    }
    _ = AsyncOperation(foundation: BlockOperation()) { operation in
        sample.title + operation.queuePriority.rawValue  // error: cannot be applied to operands
    }
    _ = AsyncOperation(foundation: BlockOperation()) { operation in
        let value = sample.title + operation.queuePriority.rawValue  // error: cannot be applied to operands
        return value
    }
    _ = AsyncOperation(foundation: BlockOperation()) { a, b in sample.title }  // error: expects 1 argument
    _ = AsyncOperation(foundation: BlockOperation()) { a, b in  // error: expects 1 argument, but 2 were used
        let value = sample.title
        return value
    }
}

// MARK: - Values

func decoder() {
    _ = JSONDecoding<Int> { JSONDecoder().dateStrategy }  // error: has no member 'dateStrategy'
    _ = JSONDecoding<Int> {
        let value = JSONDecoder().dateStrategy  // error: has no member 'dateStrategy'
        return value
    }
    _ = JSONDecoding<Int> { sample.title }  // error: 'String' to closure result type 'JSONDecoder'
    _ = JSONDecoding<Int> {
        let value = sample.title
        return value  // error: 'String' to closure result type 'JSONDecoder'
    }
    _ = JSONDecoding<Int> { a in JSONDecoder() }  // error: expects 0 arguments, but 1 was used
    _ = JSONDecoding<Int> { a in  // error: expects 0 arguments, but 1 was used
        let value = JSONDecoder()
        return value
    }
}

func encoder() {
    _ = JSONEncoding<Int> { JSONEncoder().dateStrategy }  // error: has no member 'dateStrategy'
    _ = JSONEncoding<Int> {
        let value = JSONEncoder().dateStrategy  // error: has no member 'dateStrategy'
        return value
    }
    _ = JSONEncoding<Int> { sample.title }  // error: 'String' to closure result type 'JSONEncoder'
    _ = JSONEncoding<Int> {
        let value = sample.title
        return value  // error: 'String' to closure result type 'JSONEncoder'
    }
    _ = JSONEncoding<Int> { a in JSONEncoder() }  // error: expects 0 arguments, but 1 was used
    _ = JSONEncoding<Int> { a in  // error: expects 0 arguments, but 1 was used
        let value = JSONEncoder()
        return value
    }
}

func follow(_ context: OperationContext) async throws {
    _ = try await context.follow(Progress(totalUnitCount: 1)) { sample.titel }  // error: has no member 'titel'
    _ = try await context.follow(Progress(totalUnitCount: 1)) {
        let value = sample.titel  // error: has no member 'titel'
        return value
    }
    _ = try await context.follow(Progress(totalUnitCount: 1)) {
        sample.size + sample.title  // error: cannot be applied to operands of type 'Int' and 'String'
    }
    _ = try await context.follow(Progress(totalUnitCount: 1)) {
        let value = sample.size + sample.title  // error: cannot be applied to operands of type 'Int' and 'String'
        return value
    }
    _ = try await context.follow(Progress(totalUnitCount: 1)) { a in  // error: expects 0 arguments, but 1 was used
        sample.title
    }
    _ = try await context.follow(Progress(totalUnitCount: 1)) { a in  // error: expects 0 arguments, but 1 was used
        let value = sample.title
        return value
    }
}

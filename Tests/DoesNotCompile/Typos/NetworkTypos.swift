// Mistakes in closures of `BatonNetwork` and `BatonNetworkTesting`.
// Each mistake stands in one statement and in several. "error: …" is in the message for its line.
import Baton
import BatonNetwork
import BatonNetworkTesting
import Foundation

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

struct Page: Sendable {
    let title: String
    let size: Int
}

let sample = Page(title: "", size: 0)

// MARK: - Bodies of requests and answers

func body() {
    _ = HTTPBody { Data(sample.titel.utf8) }  // error: has no member 'titel'
    _ = HTTPBody {
        let value = Data(sample.titel.utf8)  // error: has no member 'titel'
        return value
    }
    _ = HTTPBody { sample.title }  // error: 'String' to closure result type 'Data?'
    _ = HTTPBody {
        let value = sample.title
        return value  // error: 'String' to closure result type 'Data'
    }
    _ = HTTPBody { a in Data?.none }  // error: expects 0 arguments, but 1 was used
    _ = HTTPBody { a in  // error: expects 0 arguments, but 1 was used
        let value = Data?.none
        return value
    }
}

func stream() {
    _ = HTTPBodyStream(length: 3) { sample.pieces }  // error: has no member 'pieces'
    _ = HTTPBodyStream(length: 3) {
        let value = sample.pieces  // error: has no member 'pieces'
        return value
    }
    _ = HTTPBodyStream(length: 3) {
        AsyncStream<Data>(unfolding: { sample.size })  // error: 'Int' to closure result type 'Data?'
    }
    _ = HTTPBodyStream(length: 3) {
        let value = AsyncStream<Data>(unfolding: { sample.size })  // error: 'Int' to closure result type 'Data?'
        return value
    }
    _ = HTTPBodyStream(length: 3) { a in AsyncStream<Data> { nil } }  // error: expects 0 arguments, but 1 was used
    _ = HTTPBodyStream(length: 3) { a in  // error: expects 0 arguments, but 1 was used
        let value = AsyncStream<Data> { nil }
        return value
    }
}

func streamBytes() {
    _ = HTTPBodyStream(length: 3, bytes: { sample.bites })  // error: has no member 'bites'
    _ = HTTPBodyStream(
        length: 3,
        bytes: {
            let value = sample.bites  // error: has no member 'bites'
            return value
        })
    _ = HTTPBodyStream(
        length: 3,
        bytes: {
            AsyncStream<UInt8>(unfolding: { sample.title })  // error: 'String' to closure result type 'UInt8?'
        })
    _ = HTTPBodyStream(
        length: 3,
        bytes: {
            let value = AsyncStream<UInt8>(unfolding: { sample.title })  // error: cannot convert value
            return value
        })
    _ = HTTPBodyStream(length: 3, bytes: { a in AsyncStream<UInt8> { nil } })  // error: expects 0 arguments
    _ = HTTPBodyStream(
        length: 3,
        bytes: { a in  // error: expects 0 arguments, but 1 was used
            let value = AsyncStream<UInt8> { nil }
            return value
        })
}

func pass(_ pass: HTTPBodyStream.Pass) async throws {
    try await pass.send { piece in piece.cuont > 0 }  // error: has no member 'cuont'
    try await pass.send { piece in
        let value = piece.cuont > 0  // error: has no member 'cuont'
        return value
    }
    try await pass.send { piece in piece.count > sample.title }  // error: 'String' to expected argument type 'Int'
    try await pass.send { piece in
        let value = piece.count > sample.title  // error: 'String' to expected argument type 'Int'
        return value
    }
    try await pass.send { a, b in true }  // error: expects 1 argument, but 2 were used
    try await pass.send { a, b in  // error: expects 1 argument, but 2 were used
        let value = true
        return value
    }
}

func transport(_ transport: any HTTPTransport, _ request: URLRequest) async throws {
    _ = try await transport.send(request, body: nil) { count in
        print(count.titel)  // error: has no member 'titel'
    }
    _ = try await transport.send(request, body: nil) { count in
        let value = count.titel  // error: has no member 'titel'
        print(value)
    }
    _ = try await transport.send(request, body: nil) { count in
        print(count + sample.title)  // error: cannot be applied to operands of type 'Int64' and 'String'
    }
    _ = try await transport.send(request, body: nil) { count in
        let value = count + sample.title  // error: cannot be applied to operands of type 'Int64' and 'String'
        print(value)
    }
    _ = try await transport.send(request, body: nil) { a, b in  // error: expects 1 argument, but 2 were used
        print(sample.title)
    }
    _ = try await transport.send(request, body: nil) { a, b in  // error: expects 1 argument, but 2 were used
        let value = 1
        print(value)
    }
}

// MARK: - Activity and servers

func activity() {
    _ = NetworkActivity { isActive in print(isActive.titel) }  // error: has no member 'titel'
    _ = NetworkActivity { isActive in
        let value = isActive.titel  // error: has no member 'titel'
        print(value)
    }
    _ = NetworkActivity { isActive in print(isActive + 1) }  // error: 'Bool' to expected argument type 'Int'
    _ = NetworkActivity { isActive in
        let value = isActive + 1  // error: 'Bool' to expected argument type 'Int'
        print(value)
    }
    _ = NetworkActivity { a, b in print(sample.title) }  // error: expects 1 argument, but 2 were used
    _ = NetworkActivity { a, b in  // error: expects 1 argument, but 2 were used
        let value = 1
        print(value)
    }
}

func server(_ server: FaultServer) {
    server.on("/") { request in request.pth }  // error: has no member 'pth'
    server.on("/") { request in
        let value = request.pth  // error: has no member 'pth'
        return value
    }
    server.on("/") { request in request.path }  // error: 'String' to closure result type 'FaultScript'
    server.on("/") { request in
        let value = request.path
        return value  // error: 'String' to closure result type 'FaultScript'
    }
    server.on("/") { a, b in FaultScript([]) }  // error: expects 1 argument, but 2 were used
    server.on("/") { a, b in  // error: expects 1 argument, but 2 were used
        let value = FaultScript([])
        return value
    }
}

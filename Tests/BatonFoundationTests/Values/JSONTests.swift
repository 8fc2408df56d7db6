import Baton
import BatonFoundation
import Foundation
import Testing

@Suite(.timeLimit(.minutes(10))) struct JSONTests {
    struct Page: Codable, Equatable, Sendable {
        var title: String
        var date: Date?
    }

    let queue = AsyncOperationQueue()

    @Test func aValueIsDecoded() async throws {
        let data = AsyncOperation("data") { Data(#"{"title": "One"}"#.utf8) }
        #expect(try await queue.run(data.then(JSONDecoding<Page>())) == Page(title: "One"))
    }

    @Test func aValueIsEncodedAndDecodedAgain() async throws {
        let page = AsyncOperation("page") { Page(title: "☀️", date: Date(timeIntervalSince1970: 1_000)) }
        let again = page.then(JSONEncoding()).then(JSONDecoding(Page.self))
        #expect(try await queue.run(again) == Page(title: "☀️", date: Date(timeIntervalSince1970: 1_000)))
    }

    @Test func theCodersCanBeConfigured() async throws {
        let encoding = JSONEncoding(Page.self) {
            let encoder = JSONEncoder()
            encoder.dateEncodingStrategy = .iso8601
            encoder.outputFormatting = .sortedKeys
            return encoder
        }
        let decoding = JSONDecoding(Page.self) {
            let decoder = JSONDecoder()
            decoder.dateDecodingStrategy = .iso8601
            return decoder
        }
        let page = Page(title: "One", date: Date(timeIntervalSince1970: 0))
        let data = try await encoding.execute(page, in: OperationContext())
        #expect(String(decoding: data, as: UTF8.self) == #"{"date":"1970-01-01T00:00:00Z","title":"One"}"#)
        #expect(try await decoding.execute(data, in: OperationContext()) == page)
    }

    @Test(arguments: [
        "", "{", "[]", #"{"title": 1}"#, #"{"titel": "One"}"#, "nul", String(repeating: "[", count: 100_000),
    ])
    func whatDoesNotFitIsADecodingError(text: String) async {
        let operation = AsyncOperation(JSONDecoding<Page>(), input: Data(text.utf8))
        #expect(await run(operation, on: queue).failure?.underlyingError is DecodingError)
    }

    @Test(
        "The error of an invalid text names the position",
        arguments: [
            (#"{"title": x}"#, "10"), ("", "end"), (#"{"title": "a""#, "end"), (#"{"title": 1}"#, "title"),
            (#"{"date": 1}"#, "title"),
        ])
    func theErrorSaysWhere(text: String, place: String) async throws {
        let operation = AsyncOperation(JSONDecoding<Page>(), input: Data(text.utf8))
        let error = try #require(await run(operation, on: queue).failure)
        #expect("\(error)".contains(place), "\(error)")
    }

    @Test func bytesThatAreNoTextAreADecodingError() async {
        let operation = AsyncOperation(JSONDecoding<[String]>(), input: Data([0x5B, 0x22, 0xFF, 0xFE, 0x22, 0x5D]))
        #expect(await run(operation, on: queue).failure?.underlyingError is DecodingError)
    }

    @Test func aNumberThatIsNoneIsAnEncodingError() async {
        let operation = AsyncOperation(JSONEncoding<[Double]>(), input: [.nan])
        let error = await run(operation, on: queue).failure
        #expect(error?.underlyingError is EncodingError)
        #expect(error?.publisher == nil)
    }

    @Test func anErrorNamesTheOperationToThoseWhoReadIt() async {
        let page = AsyncOperation("data") { Data() }.then(JSONDecoding<Page>())
        let error = await run(page.then { $0.title }, on: queue).failure
        #expect(error?.publisher == "JSONDecoding<Page>")
        #expect(error?.underlyingError is DecodingError)
    }
}

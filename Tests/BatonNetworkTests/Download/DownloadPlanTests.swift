import Foundation
import Testing

@testable import BatonNetwork

@Suite struct DownloadPlanTests {
    private let origin = PartialFile.Origin(url: "u", validator: "\"tag\"", length: 100)

    private func plan(_ status: Int, _ headers: [String: String] = [:], start: Int64 = 40) -> DownloadPlan {
        DownloadPlan(
            HTTPHead(status: status, url: nil, headers: HTTPHeaders(headers)), start: start,
            origin: start > 0 ? origin : nil)
    }

    @Test func aResponseContinuesOrReplacesTheFile() {
        #expect(plan(206, ["Content-Range": "bytes 40-99/100", "ETag": "\"tag\""]) == .append(total: 100))
        #expect(plan(206, ["Content-Range": "bytes 40-99/*", "ETag": "\"tag\""]) == .append(total: 100))
        #expect(plan(200) == .replace)
        #expect(plan(200, start: 0) == .replace)
        #expect(plan(404) == .rejectStatus)
        #expect(plan(500, start: 0) == .rejectStatus)
    }

    @Test func aPartOfSomethingElseIsNotTaken() {
        #expect(plan(206, ["Content-Range": "bytes 41-99/100"]) == .startOver)
        #expect(plan(206, ["Content-Range": "bytes 40-199/200"]) == .startOver)
        #expect(plan(206, ["Content-Range": "bytes 40-99/100", "ETag": "\"other\""]) == .startOver)
        #expect(plan(206, ["ETag": "\"tag\""]) == .startOver)
        #expect(plan(206, ["Content-Range": "bytes 0-99/100"], start: 0) == .rejectPart)
    }

    @Test(
        "A part with a content coding is not appended to a partial file without one, and identity is none",
        arguments: [("gzip", true), ("identity, gzip", true), ("identity", false), ("Identity", false)])
    func encodedPart(coding: String, isEncoded: Bool) {
        let headers = ["Content-Range": "bytes 40-99/100", "ETag": "\"tag\"", "Content-Encoding": coding]
        #expect(plan(206, headers) == (isEncoded ? .startOver : .append(total: 100)))
        let head = HTTPHead(status: 206, url: nil, headers: HTTPHeaders(headers))
        #expect(head.partLength == (isEncoded ? nil : 60))
        #expect((PartialFile.Origin(head, url: "u") == nil) == isEncoded)
    }

    /// Cases in which the caller's request has a Range field of its own.
    @Test(arguments: [
        ("bytes=40-99", "bytes 40-99/100", true), ("bytes=40-99", "bytes 40-59/100", true),
        ("bytes=40-99", "bytes 40-100/200", false), ("bytes=40-99", "bytes 0-59/100", false),
        ("bytes=40-99", nil, false), ("bytes=40-", "bytes 40-99/100", true), ("bytes=40-", "bytes 41-99/100", false),
        ("bytes=-10", "bytes 90-99/100", true), ("bytes=-10", "bytes 90-99/*", true),
        ("bytes=-10", "bytes 80-89/100", false), ("bytes=-10", "bytes 80-99/100", false),
        ("bytes=-100", "bytes 0-9223372036854775807/*", false),
        ("bytes=0-1,5-6", nil, true), ("lines=1-2", nil, true), ("bytes=9-3", nil, true),
    ]) func aPartThatWasAskedForIsThatPart(_ wanted: String, _ came: String?, _ isTaken: Bool) {
        let fields = HTTPHeaders(came.map { ["Content-Range": $0] } ?? [:])
        let plan = DownloadPlan(
            HTTPHead(status: 206, url: nil, headers: fields), start: 0, origin: nil, wanted: RequestedRange(wanted))
        #expect(plan == (isTaken ? .replace : .rejectPart))
    }

    @Test func aPartThatWasAskedForAndIsCutOffIsNotTaken() async throws {
        let folder = try TestFolder()
        for length in ["", "Content-Length: 50\r\n"] {
            let body = String(repeating: "x", count: 50)
            let raw = try RawServer("HTTP/1.1 206 P\r\nContent-Range: bytes 0-99/1000\r\n\(length)\r\n\(body)")
            defer { raw.stop() }
            let download = HTTPDownload(raw.url, to: folder.file("part")).header("Range", "bytes=0-99")
            #expect(await failure(download)?.reason == .bodyTooShort(received: 50, promised: 100))
        }
    }

    /// The server may have sent less than the requested range.
    @Test func aPartWhoseEndNobodyKnowsIsNotTaken() {
        let origin = PartialFile.Origin(url: "u", validator: "\"tag\"", length: nil)
        let fields = HTTPHeaders(["Content-Range": "bytes 40-59/*", "ETag": "\"tag\""])
        #expect(DownloadPlan(HTTPHead(status: 206, url: nil, headers: fields), start: 40, origin: origin) == .startOver)
    }

    @Test func nothingIsLeftOrItIsAnotherFile() {
        #expect(plan(416, ["Content-Range": "bytes */100", "ETag": "\"tag\""], start: 100) == .complete)
        #expect(plan(416, ["Content-Range": "bytes */100", "ETag": "\"other\""], start: 100) == .startOver)
        #expect(plan(416, ["Content-Range": "bytes */90"], start: 100) == .startOver)
        #expect(plan(416, start: 100) == .startOver)
        #expect(plan(416, start: 0) == .rejectStatus)
    }

    /// A missing or weak validator does not prove that the file is the same.
    @Test(arguments: [
        [:], ["ETag": "W/\"tag\""], ["ETag": "tag"], ["Last-Modified": "Sun, 06 Nov 1994 08:49:37 GMT"],
    ]) func withoutItsValidatorAPartIsNotTaken(_ headers: [String: String]) {
        #expect(plan(206, headers.merging(["Content-Range": "bytes 40-99/100"]) { $1 }) == .startOver)
        #expect(plan(416, headers.merging(["Content-Range": "bytes */100"]) { $1 }, start: 100) == .startOver)
    }

    /// According to RFC 9110, 8.8.1, a validator identifies a version of one resource. The query does not count,
    /// because that of a signed URL is different each time.
    @Test(arguments: [
        ("http://a.test/v1?key=2", true), ("http://a.test/v2", false), ("http://b.test/v1", false),
        ("https://a.test/v1", false),
    ]) func aPartFromElsewhereIsNotTaken(_ address: String, _ isTaken: Bool) throws {
        let headers = ["ETag": "\"tag\"", "Content-Length": "100", "Content-Range": "bytes 40-99/100"]
        func head(_ status: Int, _ url: String) -> HTTPHead {
            HTTPHead(status: status, url: URL(string: url), headers: HTTPHeaders(headers))
        }
        let origin = try #require(PartialFile.Origin(head(200, "http://a.test/v1?key=1"), url: "u"))
        #expect(
            DownloadPlan(head(206, address), start: 40, origin: origin) == (isTaken ? .append(total: 100) : .startOver))
        #expect(DownloadPlan(head(206, address), start: 40, origin: self.origin) == .append(total: 100))
    }

    @Test func aDateIsRepeated() {
        let date = "Sun, 06 Nov 1994 08:49:37 GMT"
        let origin = PartialFile.Origin(url: "u", validator: date, length: 100)
        func plan(_ headers: [String: String]) -> DownloadPlan {
            let headers = HTTPHeaders(headers.merging(["Content-Range": "bytes 40-99/100"]) { $1 })
            return DownloadPlan(HTTPHead(status: 206, url: nil, headers: headers), start: 40, origin: origin)
        }
        #expect(plan(["Last-Modified": date]) == .append(total: 100))
        #expect(plan(["Last-Modified": "Sun, 06 Nov 1994 08:49:38 GMT"]) == .startOver)
        // A weak tag in the response does not hide that its date differs.
        #expect(plan(["ETag": "W/\"w2\"", "Last-Modified": "Sun, 06 Nov 1994 08:49:38 GMT"]) == .startOver)
        #expect(plan([:]) == .startOver)
    }

    /// RFC 9110, 8.8.2.2 and 13.1.5, defines which validators may be used in If-Range.
    @Test func validatorsForALaterRequest() {
        func validator(_ headers: [String: String]) -> String? {
            PartialFile.Origin(HTTPHead(status: 200, url: nil, headers: HTTPHeaders(headers)), url: "u")?.validator
        }
        let (date, later) = ("Sun, 06 Nov 1994 08:49:37 GMT", "Sun, 06 Nov 1994 08:49:38 GMT")
        #expect(validator(["ETag": "\"a\""]) == "\"a\"")
        #expect(validator(["ETag": "\"a\"", "Last-Modified": date, "Date": later]) == "\"a\"")
        #expect(validator(["Last-Modified": date, "Date": later]) == date)
        #expect(validator(["Last-Modified": date, "Date": date]) == nil)
        #expect(validator(["Last-Modified": later, "Date": date]) == nil)
        #expect(validator(["Last-Modified": date]) == nil)
        #expect(validator(["Last-Modified": "yesterday", "Date": later]) == nil)
        #expect(validator(["ETag": "W/\"a\"", "Last-Modified": date, "Date": later]) == nil)
        // Two fields.
        #expect(validator(["ETag": "\"a\", \"b\"", "Last-Modified": date, "Date": later]) == nil)
        #expect(validator(["ETag": "\""]) == nil)
        #expect(validator(["ETag": "a"]) == nil)
        #expect(validator([:]) == nil)
    }

    @Test(arguments: [
        "bytes 1-2", "bytes 2-1/5", "bytes 1-5/5", "bytes -1-2/5", "bytes a-b/c", "items 1-2/5", "", "bytes 1/5",
        "bytes 99999999999999999999-2/5",
    ]) func whatIsNoRange(_ text: String) {
        #expect(ContentRange(text) == nil)
    }

    @Test func ranges() {
        #expect(ContentRange("bytes 1-2/5")?.part == 1...2)
        #expect(ContentRange("Bytes 1-2/5")?.total == 5)
        #expect(ContentRange("bytes */5")?.part == nil)
        #expect(ContentRange("bytes 1-2/*")?.total == nil)
    }
}

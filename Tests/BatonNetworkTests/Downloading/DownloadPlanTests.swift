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

    @Test func whatFollowsIsTheRestOrAllOfIt() {
        #expect(plan(206, ["Content-Range": "bytes 40-99/100"]) == .append(total: 100))
        #expect(plan(206, ["Content-Range": "bytes 40-99/*"]) == .append(total: 100))
        #expect(plan(200) == .replace)
        #expect(plan(200, start: 0) == .replace)
        #expect(plan(404) == .judge)
        #expect(plan(500, start: 0) == .judge)
    }

    @Test func aPartOfSomethingElseIsNotTaken() {
        #expect(plan(206, ["Content-Range": "bytes 41-99/100"]) == .startOver)
        #expect(plan(206, ["Content-Range": "bytes 40-199/200"]) == .startOver)
        #expect(plan(206, ["Content-Range": "bytes 40-99/100", "ETag": "\"other\""]) == .startOver)
        #expect(plan(206) == .startOver)
        #expect(plan(206, ["Content-Range": "bytes 0-99/100"], start: 0) == .refuse)
    }

    @Test func nothingIsLeftOrItIsAnotherFile() {
        #expect(plan(416, ["Content-Range": "bytes */100"], start: 100) == .complete)
        #expect(plan(416, ["Content-Range": "bytes */100", "ETag": "\"other\""], start: 100) == .startOver)
        #expect(plan(416, ["Content-Range": "bytes */90"], start: 100) == .startOver)
        #expect(plan(416, start: 100) == .startOver)
        #expect(plan(416, start: 0) == .judge)
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

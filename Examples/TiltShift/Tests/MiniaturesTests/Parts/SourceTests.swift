import Foundation
import Testing

@testable import Miniatures

/// Tests of the names of pictures and miniatures.
@Suite struct SourceTests {
    @Test(arguments: [
        ("http://example.org/town.png", "town.png", "town"),
        ("http://example.org/a/b%20c.jpeg?size=1#x", "b c.jpeg", "b c"),
        ("http://example.org/..%2F..%2Fetc%2Fpasswd.jpg", "passwd.jpg", "passwd"),
        ("http://example.org/%2e%2e", "example.org", "example.org"),
        ("http://example.org/a%00%0A%1Bb.jpg", "a___b.jpg", "a___b"),
        ("http://example.org/", "example.org", "example.org"),
        ("http://example.org/town.JPG.enc", "town.JPG.enc", "town"),
        ("dir/a.b.tif", "a.b.tif", "a.b"),
        ("dir/two\nlines.png", "two_lines.png", "two_lines"),
        ("dir/.jpg", ".jpg", ".jpg"),
        ("dir/scan.gif", "scan.gif", "scan.gif"),
    ])
    func namesAreOneLineAndNeverAPath(text: String, name: String, stem: String) {
        let source = Source(text)
        #expect(source.name == name)
        #expect(source.stem == stem)
    }

    @Test func outputsAreInTheFolderAndDiffer() {
        let names = ["a/x.jpg", "b/x-2.png", "b/x.png", "c/X.tif", "a/../a/x.jpg", "http://example.org/x.webp"]
        let outputs = Output.each(of: names.map { Source($0) }, in: URL(fileURLWithPath: "/out"), as: .webp)
        #expect(
            outputs.map(\.file.path) == [
                "/out/x.webp", "/out/x-2.webp", "/out/x-3.webp", "/out/X-4.webp", "/out/x.webp", "/out/x-5.webp",
            ])
    }

    @Test func theSamePictureHasTheSameIdentity() {
        #expect(Source("a/../b.jpg").identity == Source("./b.jpg").identity)
        #expect(Source("http://h/a/../b.jpg").identity == Source("http://h/b.jpg").identity)
        #expect(Source("http://h/b.jpg?1").identity != Source("http://h/b.jpg?2").identity)
    }
}

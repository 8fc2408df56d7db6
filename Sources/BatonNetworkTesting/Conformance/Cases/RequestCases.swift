internal import Foundation

#if canImport(FoundationNetworking)
    internal import FoundationNetworking
#endif

extension HTTPTransportConformance {
    /// The cases about requests without a body.
    static var requestCases: [Case] {
        [
            Case(
                "target", "Path and query arrive as they were written, and the fragment does not.", "RFC 9112, 3.2.1"
            ) { trial in
                trial.server.on("*", .answer())
                let targets = ["/", "/a%2Fb%20c", "/?q=a%20b&c=%26", "/a//b/", "/%C3%A9?x=?/#end", "/a?#"]
                for target in targets { try trial.requireAnswer(await trial.get(target), to: target) }
                let bare = URL(string: "http://127.0.0.1:\(trial.server.port)")!
                try trial.requireAnswer(await trial.send(URLRequest(url: bare)))
                let expected = targets.map { String($0.prefix { $0 != "#" }) } + ["/"]
                try trial.requireEqual(trial.server.requests.map(\.target), expected, "the targets")
            },
            Case("method", "The method arrives as it was written.", "RFC 9110, 9.1") { trial in
                trial.server.on("/", .answer())
                let methods = ["GET", "POST", "PUT", "DELETE", "PATCH", "OPTIONS", "PURGE", "PROPFIND"]
                for method in methods {
                    try trial.requireAnswer(await trial.send(trial.request("/", method)), to: method)
                }
                try trial.requireEqual(trial.server.requests.map(\.method), methods, "the methods")
            },
            Case("host", "Each request has one Host, with the port.", "RFC 9112, 3.2") { trial in
                trial.server.on("/", .answer())
                try trial.requireAnswer(await trial.get())
                let hosts = trial.server.requests.map { $0.values(of: "Host") }
                try trial.requireEqual(hosts, [["127.0.0.1:\(trial.server.port)"]], "the field Host")
            },
            Case("fields", "Header fields of the request arrive, several of them.") { trial in
                trial.server.on("/", .answer())
                let fields = [
                    "X-One": "1", "X-Two": "two words", "Accept": "application/json", "User-Agent": "case/1",
                    "Authorization": "Bearer t", "Range": "bytes=5-", "If-None-Match": "\"a\"",
                    "X-Punctuation": "a:b;c,\"d\"",
                ]
                try trial.requireAnswer(await trial.send(trial.request("/", "GET", fields)))
                for (name, value) in fields {
                    try trial.requireEqual(trial.requireRequest().values(of: name), [value], name)
                }
            },
            Case("fields-many", "A thousand header fields arrive.") { trial in
                trial.server.on("/", .answer())
                let fields = Dictionary(uniqueKeysWithValues: (0..<1000).map { ("X-\($0)", "value \($0)") })
                try trial.requireAnswer(await trial.send(trial.request("/", "GET", fields)))
                for (name, value) in fields {
                    try trial.requireEqual(trial.requireRequest().values(of: name), [value], name)
                }
            },
            Case("target-of-100-KB", "A target of 100 KB arrives.") { trial in
                trial.server.on("*", .answer())
                let target = "/?q=" + String(repeating: "a", count: 100_000)
                try trial.requireAnswer(await trial.get(target))
                try trial.require(trial.requireRequest().target == target, "it is not the one that was sent")
            },
            Case("fields-in-utf-8", "A field with letters beyond ASCII arrives in UTF-8.", "RFC 9110, 5.5") { trial in
                trial.server.on("/", .answer())
                try trial.requireAnswer(await trial.send(trial.request("/", "GET", ["X-Name": "Zoë"])))
                try trial.requireEqual(trial.requireRequest().values(of: "X-Name"), ["Zoë"], "X-Name")
            },
            Case("field-empty-sent", "A field with an empty value arrives.", "RFC 9110, 5.5") { trial in
                trial.server.on("/", .answer())
                try trial.requireAnswer(await trial.send(trial.request("/", "GET", ["X-Empty": ""])))
                try trial.requireEqual(trial.requireRequest().values(of: "X-Empty"), [""], "X-Empty")
            },
            Case("field-with-line-break", "A line break in a value makes no second field.", "RFC 9110, 5.5") { trial in
                trial.server.on("*", .answer())
                for text in ["a\r\nX-Evil: 1", "a\nX-Evil: 1", "a\r\n\r\nGET /evil HTTP/1.1\r\nHost: x\r\n\r\n"] {
                    // A transport may also fail, as long as no second field or request arrives.
                    _ = await trial.send(trial.request("/", "GET", ["X-A": text]))
                }
                for request in trial.server.requests {
                    try trial.requireEqual(request.values(of: "X-Evil"), [], "X-Evil")
                    try trial.requireEqual(request.target, "/", "the target")
                }
            },
            Case("no-body-fields", "A GET without a body has no fields of a body.", "RFC 9110, 8.6") { trial in
                trial.server.on("/", .answer())
                try trial.requireAnswer(await trial.get())
                let request = try trial.requireRequest()
                for name in ["Content-Length", "Transfer-Encoding", "Content-Type"] {
                    try trial.requireEqual(request.values(of: name), [], name)
                }
            },
        ]
    }
}

internal import BatonNetwork
internal import Foundation

#if canImport(FoundationNetworking)
    internal import FoundationNetworking
#endif

extension HTTPTransportConformance {
    /// The cases about cookies: RFC 6265. A transport keeps its cookies in memory, for itself.
    ///
    /// Cookies belong to a host and not to a port, so a request also carries the cookies of other cases. Each case uses
    /// names of its own.
    static var cookieCases: [Case] {
        [
            Case("cookies", "A cookie is sent back to the same host.", "RFC 6265, 5.4") { trial in
                let name = freshName()
                trial.server.on("/set", .answer(200, ["Set-Cookie: \(name)-1=a; Path=/", "Set-Cookie: \(name)-2=b"]))
                try await requireCookies(trial, of: name, ["/set": [], "/": ["\(name)-1=a", "\(name)-2=b"]])
            },
            Case(
                "cookies-replaced", "A later cookie of the same name takes the place of the former.", "RFC 6265, 5.3"
            ) { trial in
                let name = freshName()
                trial.server.on("/1", .answer(200, ["Set-Cookie: \(name)=old; Path=/"]))
                trial.server.on("/2", .answer(200, ["Set-Cookie: \(name)=new; Path=/"]))
                trial.server.on("/3", .answer(200, ["Set-Cookie: \(name)=; Path=/; Max-Age=0"]))
                try await requireCookies(
                    trial, of: name, ["/1": [], "/2": ["\(name)=old"], "/3": ["\(name)=new"], "/4": []])
            },
            Case("cookies-of-redirect", "A cookie of an answer that redirects is kept.", "RFC 6265, 3") { trial in
                let name = freshName()
                trial.server.on("/set", .answer(302, ["Set-Cookie: \(name)=a; Path=/", "Location: /"]))
                try await requireCookies(trial, of: name, ["/set": [], "/": ["\(name)=a"]])
            },
            Case("cookies-of-paths", "A cookie is sent to its path alone.", "RFC 6265, 5.4") { trial in
                let name = freshName()
                trial.server.on("/set", .answer(200, ["Set-Cookie: \(name)=a; Path=/deep"]))
                try await requireCookies(
                    trial, of: name,
                    ["/set": [], "/": [], "/deep": ["\(name)=a"], "/deep/er": ["\(name)=a"], "/deeper": []])
            },
            Case(
                "cookies-beside-long-lines", "A cookie and a long target or field make a whole request.",
                "RFC 9112, 2.1"
            ) { trial in
                let name = freshName()
                trial.server.on("/set", .answer(200, ["Set-Cookie: \(name)=a; Path=/"]))
                trial.server.on("*", .answer())
                try trial.requireAnswer(await get(trial, "/set"))
                for count in [4000, 8000, 16000, 60000] {
                    let text = String(repeating: "x", count: count)
                    try await requireCookie(trial, name, "/?q=\(text)", [:], "a target of \(count) bytes")
                    try await requireCookie(
                        trial, name, "/", ["Authorization": "Bearer \(text)"], "a field of \(count) bytes")
                }
            },
            Case(
                "cookies-many", "Many cookies make a whole request, with as many of them as there is room for.",
                "RFC 6265, 6.1"
            ) { trial in
                let name = freshName()
                let value = String(repeating: "v", count: 300)
                let fields = (0..<60).map { "Set-Cookie: \(name)-\($0)=\(value); Path=/many" }
                trial.server.on("/set") { _ in FaultScript([.answer(200, fields)]) }
                trial.server.on("/many", .answer())
                try trial.requireAnswer(await get(trial, "/set"))
                try trial.requireAnswer(
                    await within(.seconds(5), "a request with 60 cookies") { await get(trial, "/many") })
            },
            Case(
                "cookies-not-wanted", "A request that has nothing to do with cookies sends and stores none."
            ) { trial in
                let name = freshName()
                trial.server.on("/1", .answer(200, ["Set-Cookie: \(name)-1=a; Path=/"]))
                trial.server.on("/2", .answer(200, ["Set-Cookie: \(name)-2=b; Path=/"]))
                trial.server.on("/", .answer())
                try trial.requireAnswer(await get(trial, "/1"))
                try trial.requireAnswer(await trial.get("/2"))
                try trial.requireAnswer(await get(trial, "/"))
                try trial.requireEqual(cookies(trial.server, name), [[], [], ["\(name)-1=a"]], "the cookies")
            },
            Case("cookies-of-others", "A cookie is not sent by another transport.", "RFC 6265, 5.3") { trial in
                guard let other = trial.other else { return }
                let name = freshName()
                trial.server.on("/set", .answer(200, ["Set-Cookie: \(name)=a; Path=/; Max-Age=1000000"]))
                trial.server.on("/", .answer())
                try trial.requireAnswer(await get(trial, "/set"))
                try trial.requireAnswer(await get(trial, "/", by: other))
                try trial.requireEqual(cookies(trial.server, name).last, [], "the cookies of the other transport")
            },
            Case("cookies-in-memory", "No file of cookies is written.") { trial in
                let name = freshName()
                trial.server.on("/set", .answer(200, ["Set-Cookie: \(name)=a; Path=/; Max-Age=1000000"]))
                try trial.requireAnswer(await get(trial, "/set"))
                for file in cookieFiles() {
                    let content = try? Data(contentsOf: file)
                    try trial.require(content?.range(of: Data(name.utf8)) == nil, "the cookie is in \(file.path)")
                }
            },
        ]
    }

    private static func freshName() -> String { "c" + UUID().uuidString.lowercased() }

    /// Sends a GET that sends and stores cookies.
    private static func get(
        _ trial: Trial, _ target: String, _ fields: [String: String] = [:], by other: (any HTTPTransport)? = nil
    ) async -> Trial.Outcome {
        var request = trial.request(target, "GET", fields)
        request.httpShouldHandleCookies = true
        return await trial.send(request, by: other)
    }

    private static func requireCookie(
        _ trial: Trial, _ name: String, _ target: String, _ fields: [String: String], _ what: String
    ) async throws {
        try trial.requireAnswer(await within(.seconds(5), what) { await get(trial, target, fields) }, to: what)
        try trial.requireEqual(cookies(trial.server, name).last, ["\(name)=a"], "the cookies beside \(what)")
    }

    /// Sends a GET to each target, and compares the cookies that came with it.
    private static func requireCookies(
        _ trial: Trial, of name: String, _ expected: KeyValuePairs<String, [String]>
    ) async throws {
        trial.server.on("*", .answer())
        for (target, cookies) in expected {
            guard case .answer = await get(trial, target) else { throw trial.failure("\(target) was not answered") }
            try trial.requireEqual(
                self.cookies(trial.server, name).last, cookies, "the cookies that came with \(target)")
        }
    }

    /// Returns the cookies of each request whose names start with `name`, in the order of their names.
    private static func cookies(_ server: FaultServer, _ name: String) -> [[String]] {
        server.requests.map { request in
            request.values(of: "Cookie").flatMap { $0.components(separatedBy: "; ") }.filter { $0.hasPrefix(name) }
                .sorted()
        }
    }

    /// The files in which Foundation stores cookies on Linux.
    private static func cookieFiles() -> [URL] {
        let home = FileManager.default.homeDirectoryForCurrentUser.appendingPathComponent(".local/share")
        let data = ProcessInfo.processInfo.environment["XDG_DATA_HOME"].map { URL(fileURLWithPath: $0) } ?? home
        let folders = (try? FileManager.default.contentsOfDirectory(at: data, includingPropertiesForKeys: nil)) ?? []
        return folders.map { $0.appendingPathComponent(".cookies.shared") }
    }
}

import Baton
import BatonNetwork
import Foundation

/// A page to visit, and the number of links that lead to it from the start.
struct Link: Sendable {
    let url: URL
    let depth: Int
}

/// A visited page, and the links that it contains.
struct Page: Sendable {
    let link: Link
    let byteCount: Int
    let links: [Link]
}

/// Loads a page, and finds its links to the same host.
struct Visit: InputProcedure {
    func execute(_ link: Link, in context: OperationContext) async throws -> Page {
        let answer = try await HTTPData(link.url).deadline(.seconds(10)).execute(in: context)
        let isHTML = answer.head.contentType?.hasPrefix("text/html") ?? false
        let links = isHTML ? hrefs(in: String(decoding: answer.data, as: UTF8.self)) : []
        let base = answer.head.url ?? link.url
        return Page(
            link: link, byteCount: answer.data.count,
            links: links.compactMap { href in
                guard let url = URL(string: href, relativeTo: base)?.absoluteURL, url.host() == link.url.host()
                else { return nil }
                return Link(url: url, depth: link.depth + 1)
            })
    }

    private func hrefs(in text: String) -> [String] {
        text.matches(of: #/(?i)href\s*=\s*"([^"#]+)/#).map { match in String(match.1) }
    }
}

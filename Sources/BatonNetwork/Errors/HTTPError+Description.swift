internal import Baton
internal import Foundation

extension HTTPError: CustomStringConvertible {
    /// A text that names the request, says what happened and, where possible, what to do about it.
    ///
    /// Text from a server keeps its line ends, but loses all other control characters, which a terminal might
    /// interpret.
    public var description: String {
        (url.isEmpty ? "\(reason)" : "\(method) \(url)\(way): \(reason)\(wait)\(advice)").cleanLines
    }

    /// The advice for an answer that does not look like HTTP. It does not apply to a server that has completed a TLS
    /// handshake or answered another request, nor to problems that concern the status or the content.
    private var advice: String {
        guard case .invalidAnswer(let text) = reason,
            !["its status", "its content", "its connection was kept"].contains(where: { text.hasPrefix($0) }),
            (redirectedTo ?? url).lowercased().hasPrefix("http:")
        else { return "" }
        return ". Check that the port speaks HTTP, and whether it wants https"
    }

    /// The wait that a proxy asks for. That of a server belongs to the refusal.
    private var wait: String {
        guard case .proxyRefused = reason, let retryAfterOfProxy else { return "" }
        return ". It wants us to come back in \(retryAfterOfProxy)"
    }

    /// The redirect target and the proxy, where they help to understand the error.
    private var way: String {
        let target = redirectedTo.map { ", redirected to \($0)" } ?? ""
        switch reason {
        case .proxyNotReached, .proxyDenied, .proxyRefused, .invalidRequest: return target
        default: return target + (proxy.map { ", through the proxy \($0)" } ?? "")
        }
    }
}

extension HTTPError.Reason: CustomStringConvertible {
    /// A text that says what happened and, where possible, what to do about it.
    public var description: String { text.cleanLines }

    private var text: String {
        switch self {
        case .invalidURL(let text):
            "‘\(text)’ is not an address. Give one that begins with http:// or https:// and has a host, and a port "
                + "from 1 to 65535 if any"
        case .invalidRequest(let why):
            "cannot be sent: \(why)"
        case .hostNotFound:
            "the host was not found. Check its name, and the network"
        case .connectionRefused:
            "the connection was refused. Check host and port, and whether the server runs"
        case .hostNotReached(let text):
            "the host was not reached (\(text)). Check host and port, and the network"
        case .proxyNotReached(let proxy, let text):
            "no connection through the proxy \(proxy) (\(text)). Check the address of the proxy, for example in the "
                + "environment (http_proxy, https_proxy, all_proxy), and whether no_proxy should name the host"
        case .proxyDenied(let proxy, let text):
            "the proxy \(proxy) refused to connect to the host (\(text)). Check the user and the password in its "
                + "address, socks5h://user:password@host:port, and what it allows"
        case .proxyRefused(let proxy, 407):
            "the proxy \(proxy) wants a password (407). Give its address as http://user:password@host:port"
        case .proxyRefused(let proxy, let status):
            "the proxy \(proxy) refused to connect to the host, and answered \(status)"
        case .tooManyOpenFiles:
            "the process has too many open files. Raise the limit (ulimit -n), or let fewer requests run at a time"
        case .insecureConnection(let text):
            "no secure connection (\(text)). Check the server's certificate, those of the transport, and that the port "
                + "speaks TLS"
        case .timedOut(let limit):
            "nothing came for \(limit)"
        case .tooSlow(let speed, let time):
            "fewer than \(speed.inBytes) a second came or went for \(time)"
        case .deadlineExceeded(let limit):
            "took longer than its deadline of \(limit)"
        case .connectionBroken:
            "the connection ended, or the server dropped the request, before the answer was complete"
        case .bodyTooShort(let received, let promised) where received > promised:
            "\(received.inBytes) came, and \(promised) \(promised == 1 ? "was" : "were") promised"
        case .bodyTooShort(let received, let promised):
            "the connection ended after \(received.inBytes) of the \(promised) that "
                + "\(promised == 1 ? "was" : "were") promised"
        case .invalidAnswer(let text):
            "the answer cannot be understood (\(text))"
        case .bodyTooLarge(let limit):
            "the body is larger than \(limit.inBytes). Raise the limit, or download it to a file"
        case .tooManyRedirects:
            "was redirected too often"
        case .insecureRedirect(let target):
            "was redirected to \(target), and so from https to http, which everybody on the way can read. Allow it "
                + "with redirects(.follow(atMost: 16, allowsInsecure: true)), or ask for another address"
        case .refused(let refusal):
            "\(refusal)"
        case .unexpectedContentType(let found, let expected):
            "the content type is \(found ?? "missing"), not \(expected.joined(separator: " or "))"
        case .unexpectedPart(let found):
            "a part of the file came that was not asked for (\(found ?? "it does not say which"))"
        case .file(let problem, let path):
            "\(path): \(problem)"
        case .other(let code, let text):
            "\(text) (error \(code))"
        }
    }
}

extension FixedWidthInteger {
    /// The number with the word for bytes, in the singular if the number is 1.
    var inBytes: String { self == 1 ? "1 byte" : "\(self) bytes" }
}

extension HTTPError.Refusal: CustomStringConvertible {
    /// A text with the status, the wait that the server asks for, and the beginning of the body, unless that is a
    /// document with tags.
    public var description: String { text.cleanLines }

    private var text: String {
        let wait = retryAfter.map { ", wants us to come back in \($0)" } ?? ""
        let isReadable = excerpt.first { !$0.isWhitespace }.map { $0 != "<" } ?? false
        let target = location.map { ", a redirect to ‘\($0)’ that was not followed" } ?? ""
        return "answered \(status)\(wait)\(target)" + (isReadable ? ": \(excerpt)" : "")
    }
}

extension HTTPError.FileProblem: CustomStringConvertible {
    /// A text that says what is wrong with the file.
    public var description: String {
        switch self {
        case .isDirectory: "is a folder. Give the name of a file"
        case .notFound: "there is no such file or folder"
        case .notPermitted: "permission denied"
        case .diskFull: "the disk is full"
        case .notPlain: "is a link, or no plain file, and was not touched. Remove it"
        case .isDevice: "is a device, a pipe or a socket, and was not touched. Give the name of a plain file"
        case .inUse: "another download writes to it"
        case .changed: "got shorter or longer while it was sent. Send a copy that nobody writes to"
        case .other(let number): String(cString: strerror(number))
        }
    }
}

public import Foundation

/// One step of a ``FaultScript``: an action of a ``FaultServer`` on a connection.
public struct FaultStep: Sendable {
    enum Action: Sendable {
        case send(Data)
        case sendSlowly(Data, every: Duration)
        case sendPattern(count: Int, chunked: Bool)
        case sendRepeatedly(Data, count: Int)
        case pause(Duration)
        case waitForRelease(String)
        case waitForBytes
        case readBody
        case readBodySlowly(count: Int, every: Duration)
        case close
        case closeSending
        case closeAfterReading
        case reset
    }

    let action: Action

    /// Sends bytes as they are. The step ends when the system has taken them.
    ///
    /// - Parameter bytes: The bytes to send. They need not be HTTP.
    public static func send(_ bytes: Data) -> FaultStep { FaultStep(action: .send(bytes)) }

    /// Sends a text in UTF-8, as it is.
    ///
    /// - Parameter text: The text to send. It need not be HTTP.
    public static func send(_ text: String) -> FaultStep { .send(Data(text.utf8)) }

    /// Sends a text one byte at a time.
    ///
    /// - Parameters:
    ///   - text: The text to send, in UTF-8.
    ///   - interval: The pause after each byte.
    public static func sendSlowly(_ text: String, every interval: Duration) -> FaultStep {
        FaultStep(action: .sendSlowly(Data(text.utf8), every: interval))
    }

    /// Sends the first bytes of ``PatternBytes``, without holding them in memory.
    ///
    /// - Parameters:
    ///   - count: The number of bytes.
    ///   - chunked: True if the bytes are sent in chunks (RFC 9112, 7.1), including the last one.
    public static func sendPattern(count: Int, chunked: Bool = false) -> FaultStep {
        FaultStep(action: .sendPattern(count: count, chunked: chunked))
    }

    /// Sends bytes repeatedly, without holding all repetitions in memory.
    ///
    /// - Parameters:
    ///   - bytes: The bytes to send each time.
    ///   - count: The number of times. The script goes on after the last one.
    public static func sendRepeatedly(_ bytes: Data, count: Int) -> FaultStep {
        FaultStep(action: .sendRepeatedly(bytes, count: count))
    }

    /// Sends a text in UTF-8 repeatedly, without holding all repetitions in memory.
    ///
    /// - Parameters:
    ///   - text: The text to send each time.
    ///   - count: The number of times. The script goes on after the last one.
    public static func sendRepeatedly(_ text: String, count: Int) -> FaultStep {
        .sendRepeatedly(Data(text.utf8), count: count)
    }

    /// Sends a whole answer with a `Content-Length`, after which the connection can be reused.
    ///
    /// - Parameters:
    ///   - status: The status code.
    ///   - fields: The header fields, each a line such as `"Content-Type: text/plain"`.
    ///   - body: The body, in UTF-8.
    public static func answer(_ status: Int = 200, _ fields: [String] = [], body: String = "") -> FaultStep {
        .send(head(status, fields + ["Content-Length: \(body.utf8.count)"]) + body)
    }

    /// Sends the head of an answer, including the empty line at its end.
    ///
    /// - Parameters:
    ///   - status: The status code.
    ///   - fields: The header fields, each a line such as `"Content-Length: 5"`.
    public static func answerHead(_ status: Int = 200, _ fields: [String] = []) -> FaultStep {
        .send(head(status, fields))
    }

    private static func head(_ status: Int, _ fields: [String]) -> String {
        (["HTTP/1.1 \(status) Status"] + fields).map { $0 + "\r\n" }.joined() + "\r\n"
    }

    /// Pauses. If the peer closes the connection in the meantime, the script ends.
    ///
    /// - Parameter duration: The length of the pause.
    public static func pause(_ duration: Duration) -> FaultStep { FaultStep(action: .pause(duration)) }

    /// Waits until the test calls ``FaultServer/release(_:)``. If the peer closes the connection first, the script
    /// ends.
    ///
    /// - Parameter key: The key that the test releases. A released key stays released.
    public static func waitForRelease(_ key: String) -> FaultStep { FaultStep(action: .waitForRelease(key)) }

    /// Waits until the peer has sent bytes that no step has read, such as a part of the body or the next request. The
    /// bytes remain unread.
    ///
    /// If the peer closes the connection first, the script ends.
    public static var waitForBytes: FaultStep { FaultStep(action: .waitForBytes) }

    /// Reads the rest of the request's body.
    public static var readBody: FaultStep { FaultStep(action: .readBody) }

    /// Reads the rest of the request's body in parts, with a pause after each.
    ///
    /// - Parameters:
    ///   - count: The largest number of bytes of a part.
    ///   - interval: The pause after each part.
    public static func readBodySlowly(_ count: Int, every interval: Duration) -> FaultStep {
        FaultStep(action: .readBodySlowly(count: count, every: interval))
    }

    /// Closes the connection. The peer reads the end of the stream, or a reset if it has sent bytes that were not read.
    public static var close: FaultStep { FaultStep(action: .close) }

    /// Closes only the sending side. The peer reads the end of the stream, and the script goes on.
    public static var closeSending: FaultStep { FaultStep(action: .closeSending) }

    /// Closes the sending side, then discards further bytes until the peer closes or two seconds have passed, and
    /// closes.
    ///
    /// A server that answers before it has read the body does this, so that a reset does not destroy its answer (RFC
    /// 9112, 9.6).
    public static var closeAfterReading: FaultStep { FaultStep(action: .closeAfterReading) }

    /// Resets the connection. Bytes that the peer has not read yet may be lost.
    public static var reset: FaultStep { FaultStep(action: .reset) }
}

/// The steps of a ``FaultServer`` for one request.
///
/// ```swift
/// server.on("/slow") { request in
///     FaultScript(readsBodyFirst: false, [.pause(.seconds(1)), .answer(200, body: request.target), .close])
/// }
/// ```
///
/// After the last step, the server reads the rest of the body and keeps the connection for the next request, unless a
/// step has closed it.
public struct FaultScript: Sendable {
    /// The steps, in order.
    public var steps: [FaultStep]
    /// True if the body of the request is read before the first step. Otherwise only a step, or the end of the script,
    /// reads it.
    public var readsBodyFirst: Bool
    /// True if the server answers `Expect: 100-continue` with 100 before it reads the body.
    public var saysContinue: Bool

    /// Makes a script.
    ///
    /// - Parameters:
    ///   - readsBodyFirst: True if the body of the request is read before the first step.
    ///   - saysContinue: True if the server answers `Expect: 100-continue` with 100 before it reads the body.
    ///   - steps: The steps, in order.
    public init(readsBodyFirst: Bool = true, saysContinue: Bool = true, _ steps: [FaultStep]) {
        self.readsBodyFirst = readsBodyFirst
        self.saysContinue = saysContinue
        self.steps = steps
    }
}

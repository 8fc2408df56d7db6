public import Foundation

/// One thing that a ``FaultServer`` does with a connection.
public struct FaultStep: Sendable {
    enum Action: Sendable {
        case send(Data)
        case sendSlowly(Data, every: Duration)
        case sendPattern(count: Int, chunked: Bool)
        case sendRepeatedly(Data, count: Int)
        case pause(Duration)
        case waitForRelease(String)
        case readBody
        case readBodySlowly(count: Int, every: Duration)
        case close
        case closeSending
        case closeAfterReading
        case reset
    }

    let action: Action

    /// Sends these bytes as they are. The step ends when the system has taken them.
    ///
    /// - Parameter bytes: Anything; it need not be HTTP.
    public static func send(_ bytes: Data) -> FaultStep { FaultStep(action: .send(bytes)) }

    /// Sends this text in UTF-8, as it is.
    ///
    /// - Parameter text: Anything; it need not be HTTP.
    public static func send(_ text: String) -> FaultStep { .send(Data(text.utf8)) }

    /// Sends one byte at a time.
    ///
    /// - Parameters:
    ///   - text: What is sent, in UTF-8.
    ///   - interval: How long the server pauses after each byte.
    public static func sendSlowly(_ text: String, every interval: Duration) -> FaultStep {
        FaultStep(action: .sendSlowly(Data(text.utf8), every: interval))
    }

    /// Sends the first bytes of ``PatternBytes``, without holding them in memory.
    ///
    /// - Parameters:
    ///   - count: How many bytes.
    ///   - chunked: Whether they are sent in chunks (RFC 9112, 7.1), with the last one.
    public static func sendPattern(count: Int, chunked: Bool = false) -> FaultStep {
        FaultStep(action: .sendPattern(count: count, chunked: chunked))
    }

    /// Sends these bytes again and again, without holding them all in memory.
    ///
    /// - Parameters:
    ///   - bytes: What is sent each time.
    ///   - count: How many times; the script goes on after the last one.
    public static func sendRepeatedly(_ bytes: Data, count: Int) -> FaultStep {
        FaultStep(action: .sendRepeatedly(bytes, count: count))
    }

    /// Sends this text in UTF-8 again and again, without holding it all in memory.
    ///
    /// - Parameters:
    ///   - text: What is sent each time.
    ///   - count: How many times; the script goes on after the last one.
    public static func sendRepeatedly(_ text: String, count: Int) -> FaultStep {
        .sendRepeatedly(Data(text.utf8), count: count)
    }

    /// Sends a whole answer, with a `Content-Length`, after which the connection can be used again.
    ///
    /// - Parameters:
    ///   - status: The status code.
    ///   - fields: Header fields, each a line such as `"Content-Type: text/plain"`.
    ///   - body: The body, in UTF-8.
    public static func answer(_ status: Int = 200, _ fields: [String] = [], body: String = "") -> FaultStep {
        .send(head(status, fields + ["Content-Length: \(body.utf8.count)"]) + body)
    }

    /// Sends the head of an answer, with the empty line at its end.
    ///
    /// - Parameters:
    ///   - status: The status code.
    ///   - fields: Header fields, each a line such as `"Content-Length: 5"`.
    public static func answerHead(_ status: Int = 200, _ fields: [String] = []) -> FaultStep {
        .send(head(status, fields))
    }

    private static func head(_ status: Int, _ fields: [String]) -> String {
        (["HTTP/1.1 \(status) Status"] + fields).map { $0 + "\r\n" }.joined() + "\r\n"
    }

    /// Does nothing for a while. If the peer closes the connection meanwhile, the script ends.
    public static func pause(_ duration: Duration) -> FaultStep { FaultStep(action: .pause(duration)) }

    /// Does nothing until the test calls ``FaultServer/release(_:)``. If the peer closes the connection first, the
    /// script ends.
    ///
    /// - Parameter key: The key that the test releases. A key that was released stays so.
    public static func waitForRelease(_ key: String) -> FaultStep { FaultStep(action: .waitForRelease(key)) }

    /// Reads the rest of the request's body.
    public static var readBody: FaultStep { FaultStep(action: .readBody) }

    /// Reads the rest of the request's body in parts, and pauses after each.
    ///
    /// - Parameters:
    ///   - count: How many bytes are read at once, at most.
    ///   - interval: The pause after each part.
    public static func readBodySlowly(_ count: Int, every interval: Duration) -> FaultStep {
        FaultStep(action: .readBodySlowly(count: count, every: interval))
    }

    /// Closes the connection. The peer reads an end of the stream, or a reset if it has sent bytes that were not read.
    public static var close: FaultStep { FaultStep(action: .close) }

    /// Closes the sending side alone. The peer reads an end of the stream, and the script goes on.
    public static var closeSending: FaultStep { FaultStep(action: .closeSending) }

    /// Closes the sending side, reads and drops what still comes, and closes when the peer has closed or after two
    /// seconds.
    ///
    /// A server that answers before it has read the body does this, so that a reset does not destroy its answer (RFC
    /// 9112, 9.6).
    public static var closeAfterReading: FaultStep { FaultStep(action: .closeAfterReading) }

    /// Resets the connection. What the peer has not read yet may be lost.
    public static var reset: FaultStep { FaultStep(action: .reset) }
}

/// What a ``FaultServer`` does with one request.
///
/// After the last step the connection is kept for the next request, unless a step has closed it; a body that was not
/// read is read then.
public struct FaultScript: Sendable {
    /// What is done, in this order.
    public var steps: [FaultStep]
    /// Whether the body of the request is read before the first step. Else a step reads it, or none does.
    public var readsBodyFirst: Bool
    /// Whether `Expect: 100-continue` is answered with 100 before the body is read.
    public var saysContinue: Bool

    /// A script of these steps.
    ///
    /// - Parameters:
    ///   - readsBodyFirst: Whether the body of the request is read before the first step.
    ///   - saysContinue: Whether `Expect: 100-continue` is answered with 100 before the body is read.
    ///   - steps: What is done, in this order.
    public init(readsBodyFirst: Bool = true, saysContinue: Bool = true, _ steps: [FaultStep]) {
        self.readsBodyFirst = readsBodyFirst
        self.saysContinue = saysContinue
        self.steps = steps
    }
}

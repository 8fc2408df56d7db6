public import Foundation

/// Bytes that are a function of their offset, so that a large body can be sent and checked without holding it in
/// memory.
///
/// ```swift
/// server.on("/large", .answerHead(200, ["Content-Length: 30000000"]), .sendPattern(count: 30_000_000))
/// ```
///
/// The period is a prime number, so a piece that was lost, repeated or moved differs from the right one.
public enum PatternBytes {
    private static let period = 65_521

    /// Two periods, so that every piece of up to one period is contiguous.
    private static let block: [UInt8] = {
        let once = (0..<period).map { UInt8(truncatingIfNeeded: $0 &* $0 &* 31 &+ $0 &* 7 &+ ($0 >> 8)) }
        return once + once
    }()

    /// Returns the bytes of a range of offsets.
    ///
    /// - Parameters:
    ///   - count: The number of bytes.
    ///   - offset: The offset of the first byte.
    /// - Returns: The bytes.
    /// - Complexity: O(*n*), where *n* is `count`.
    public static func data(_ count: Int, from offset: Int = 0) -> Data {
        var data = Data(capacity: count)
        while data.count < count { data.append(piece(count - data.count, from: offset + data.count)) }
        return data
    }

    /// Compares bytes with those of the pattern.
    ///
    /// - Parameters:
    ///   - data: The bytes to compare.
    ///   - offset: The offset of the first byte.
    /// - Returns: True if the bytes are equal.
    /// - Complexity: O(*n*), where *n* is the number of bytes. The bytes are compared in pieces, without a copy of
    ///   `data`.
    public static func matches(_ data: Data, from offset: Int) -> Bool {
        var done = 0
        while done < data.count {
            let expected = piece(data.count - done, from: offset + done)
            let begin = data.startIndex + done
            if data[begin..<begin + expected.count] != expected { return false }
            done += expected.count
        }
        return true
    }

    /// Returns at most `count` bytes, and at most one period.
    static func piece(_ count: Int, from offset: Int) -> Data {
        let begin = offset % period
        return Data(block[begin..<begin + min(count, period)])
    }
}

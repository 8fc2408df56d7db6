public import Foundation

/// Bytes that follow from their place, so that a large body needs no memory to be sent or to be checked.
///
/// ```swift
/// server.on("/large", .answer(), .sendPattern(count: 30_000_000))
/// ```
///
/// The period is a prime number: a piece that was lost, repeated or moved does not look like the right one.
public enum PatternBytes {
    private static let period = 65_521

    /// Twice the period, so that every piece of up to one period is contiguous in it.
    private static let block: [UInt8] = {
        let once = (0..<period).map { UInt8(truncatingIfNeeded: $0 &* $0 &* 31 &+ $0 &* 7 &+ ($0 >> 8)) }
        return once + once
    }()

    /// The bytes of a range of offsets.
    ///
    /// - Parameters:
    ///   - count: How many bytes.
    ///   - offset: The offset of the first one.
    /// - Returns: These bytes.
    /// - Complexity: O(`count`).
    public static func data(_ count: Int, from offset: Int = 0) -> Data {
        var data = Data(capacity: count)
        while data.count < count { data.append(piece(count - data.count, from: offset + data.count)) }
        return data
    }

    /// Compares bytes with those that belong to their place.
    ///
    /// - Parameters:
    ///   - data: What has come.
    ///   - offset: The offset of its first byte.
    /// - Returns: Whether they are equal.
    /// - Complexity: O(`data.count`), without a copy.
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

    /// At most `count` bytes, and at most one period of them.
    static func piece(_ count: Int, from offset: Int) -> Data {
        let begin = offset % period
        return Data(block[begin..<begin + min(count, period)])
    }
}

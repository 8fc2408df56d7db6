internal import Foundation

/// A text of 800 bytes, and its forms as compressed by common programs.
enum CompressedSamples {
    static let text = String(repeating: "Baton unpacks what a server has packed. ", count: 20)
    static var gzip: Data {
        data("H4sIAAAAAAACA3NKLMnPUyjNK0hMzi5WKM9ILFFIVChOLSpLLVLISCxWAImnpugpOI2qG1U3AtUBAK9AJVYgAwAA")
    }
    static var deflate: Data { data("eNpzSizJz1MozStITM4uVijPSCxRSFQoTi0qSy1SyEgsVgCJp6boKTiNqhtVNwLVAQB/eR2c") }

    /// The text compressed by deflate without the format of zlib.
    static var rawDeflate: Data { data("c0osyc9TKM0rSEzOLlYoz0gsUUhUKE4tKkstUshILFYAiaem6Ck4jaobVTcC1QEA") }
    /// The text compressed by deflate first, then by gzip.
    static var deflateAndGzip: Data {
        data(
            "H4sIAAAAAAACA6u4Veylc/J8sMZZbQ+fc3phGuc9dAI9QjT8dLW8dYNOeOiEMXQuX/ZC06J3lXSoOdNVRob6Stk5AEdy6Eo2AAAA")
    }
    /// The first half of the text, compressed by gzip.
    static var gzipOfHalf: Data {
        data("H4sIAAAAAAACA3NKLMnPUyjNK0hMzi5WKM9ILFFIVChOLSpLLVLISCxWAImnpugpOI2qo4s6AD7CoCWQAQAA")
    }

    /// Returns zeros, compressed by deflate in the format of zlib. Each group of 13 bytes stands for 8 × 258 zeros.
    ///
    /// The data is a block of fixed codes (RFC 1951, 3.2.6): one zero, then matches of the greatest length at the
    /// distance 1.
    static func zeros(groups: Int) -> (data: Data, unpackedCount: Int) {
        let group: [UInt8] = [0x18, 0x05, 0xA3, 0x60, 0x14, 0x8C, 0x82, 0x51, 0x30, 0x0A, 0x46, 0xC1, 0x28]
        let count = 1 + groups * 8 * 258
        // Adler-32 of zeros (RFC 1950, 8.2).
        let sum = UInt32(count % 65_521) << 16 | 1
        var data = Data([0x78, 0x01, 0x63])
        for _ in 0..<groups { data.append(contentsOf: group) }
        data.append(contentsOf: [0, 0])
        withUnsafeBytes(of: sum.bigEndian) { data.append(contentsOf: $0) }
        return (data, count)
    }

    private static func data(_ text: String) -> Data { Data(base64Encoded: text)! }
}

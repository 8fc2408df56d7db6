import BatonNetworkTesting
import Foundation
import Testing

@Suite struct PatternBytesTests {
    @Test("Each byte is determined by its position, across the period", arguments: [0, 1, 65_520, 65_521, 1_000_000])
    func places(_ offset: Int) {
        let whole = PatternBytes.data(200_000, from: offset)
        #expect(whole.count == 200_000)
        #expect(PatternBytes.matches(whole, from: offset))
        #expect(PatternBytes.matches(whole[70_000..<150_000], from: offset + 70_000))
        #expect(!PatternBytes.matches(whole, from: offset + 1))
        #expect(PatternBytes.matches(Data(), from: offset))
    }

    @Test("A single wrong byte is detected")
    func oneByte() {
        var data = PatternBytes.data(100_000)
        data[99_999] ^= 1
        #expect(!PatternBytes.matches(data, from: 0))
        #expect(PatternBytes.matches(data.dropLast(), from: 0))
    }
}

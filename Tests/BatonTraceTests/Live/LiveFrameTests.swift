import Testing

@testable import BatonTrace

@Suite struct LiveFrameTests {
    @Test func firstFrameErasesNothingAboveOrBelow() {
        var frame = LiveFrame()
        #expect(frame.next(["a", "b"], columns: 80) == "\ra\u{1B}[K\r\nb\u{1B}[K\r\n")
    }

    @Test func nextFrameTakesThePlaceOfTheLast() {
        var frame = LiveFrame()
        _ = frame.next(["a", "b"], columns: 80)
        #expect(frame.next(["c"], columns: 80) == "\r\u{1B}[2Ac\u{1B}[K\r\n\u{1B}[J")
        #expect(frame.next(["c", "d"], columns: 80)?.hasPrefix("\r\u{1B}[1Ac") == true)
    }

    @Test func nothingIsWrittenIfNothingHasChanged() {
        var frame = LiveFrame()
        _ = frame.next(["a"], columns: 80)
        #expect(frame.next(["a"], columns: 80) == nil)
        #expect(frame.next(["a"], columns: 79) != nil)
    }

    @Test func linesThatANarrowerTerminalHasBrokenAreReplaced() {
        var frame = LiveFrame()
        _ = frame.next([String(repeating: "x", count: 79), "\u{1B}[32mshort\u{1B}[0m"], columns: 80)
        #expect(frame.next(["y"], columns: 40)?.hasPrefix("\r\u{1B}[3A") == true)
    }
}

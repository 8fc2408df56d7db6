import BatonTesting
import Testing

@Suite("The tools of the outside tests detect faults")
struct SupportTests {
    @Test("Quadratic growth is detected")
    func squareIsNoticed() async {
        // On a busy machine a measurement may miss it, because the smaller size takes too long.
        var isNoticed = false
        for _ in 0..<5 where !isNoticed {
            isNoticed =
                await steepGrowth(2_000) { size in
                    var sum = 0
                    for first in 0..<size { for second in 0..<size { sum &+= first ^ second } }
                    #expect(sum != 1)
                } != nil
        }
        #expect(isNoticed)
    }

    @Test("A hang is detected")
    func hangIsNoticed() async {
        let gate = Gate()
        await #expect(throws: TookTooLong.self) { try await within(.milliseconds(50)) { await gate.wait() } }
        gate.open()
    }
}

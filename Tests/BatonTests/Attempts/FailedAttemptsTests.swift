import Testing

@testable import Baton

@Suite struct FailedAttemptsTests {
    @Test("The first and the newest attempts are kept, and each append returns the attempt that it displaces")
    func displaced() {
        var failures = FailedAttempts()
        let kept = FailedAttempts.firstKept + FailedAttempts.newestKept
        func append(_ number: Int) -> Int? {
            failures.append(OperationAttempt(number: number, error: .timedOut(after: .zero), delay: .zero))?.number
        }
        for number in 1...kept { #expect(append(number) == nil) }
        #expect(append(kept + 1) == FailedAttempts.firstKept + 1)
        #expect(append(kept + 2) == FailedAttempts.firstKept + 2)
        #expect(failures.count == kept + 2)
        #expect(failures.last?.number == kept + 2)
        let newest = (kept + 3 - FailedAttempts.newestKept)...(kept + 2)
        #expect(failures.all.map(\.number) == Array(1...FailedAttempts.firstKept) + Array(newest))
    }
}

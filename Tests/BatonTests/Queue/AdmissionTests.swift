import Testing

@testable import Baton

@Suite struct AdmissionTests {
    /// Creates an admission with this number of callers that wait, identified by their numbers.
    private func admission(limit: Int, waiting: Int = 0) -> Admission<Int> {
        var admission = Admission<Int>()
        admission.limit = limit
        for number in 0..<waiting { admission.wait(UInt64(number), number) }
        return admission
    }

    @Test func withoutALimitEverybodyEnters() {
        var admission = Admission<Int>()
        let answers = (0..<5).map { _ in admission.tryAdmit(1_000_000) }
        #expect(answers == Array(repeating: true, count: 5))
    }

    @Test func anAdmittedSubmissionCountsUntilItIsAdded() {
        var admission = admission(limit: 2)
        let before = (0..<3).map { _ in admission.tryAdmit(0) }
        #expect(before == [true, true, false])
        admission.noteAdded()
        let after = [admission.tryAdmit(1), admission.tryAdmit(0)]
        #expect(after == [false, true])
    }

    @Test func nobodyPassesThoseWhoWait() {
        var admission = admission(limit: 1, waiting: 1)
        let passes = admission.tryAdmit(0)
        #expect(!passes)
        #expect(!admission.isEmpty)
        #expect(admission.removeAll() == [0])
        #expect(admission.isEmpty)
    }

    @Test("Waiting callers are admitted in order, one for each free place")
    func theyGoInOrderAndOneForEachPlace() {
        var admission = admission(limit: 1, waiting: 3)
        #expect(admission.next(0) == 0)
        #expect(admission.next(0) == nil)
        admission.noteAdded()
        #expect(admission.next(1) == nil)
        #expect(admission.next(0) == 1)
        admission.noteAdded()
        #expect(admission.next(0) == 2)
        #expect(admission.isEmpty)
    }

    @Test("A caller that gives up is removed")
    func oneThatGivesUpIsTakenOut() {
        var admission = admission(limit: 1, waiting: 3)
        #expect(admission.remove(1) == 1)
        #expect(admission.remove(1) == nil)
        #expect(admission.removeAll() == [0, 2])
    }

    /// The test would take minutes if the search for one caller were linear.
    @Test func veryManyThatGiveUpAreTakenOut() {
        var admission = admission(limit: 1, waiting: veryMany)
        let middle = 1..<veryMany - 1
        let found = middle.reversed().map { admission.remove(UInt64($0)) }
        #expect(found == middle.reversed())
        #expect(admission.removeAll() == [0, veryMany - 1])
    }

    /// The caller that gives up is the first one, the last one, one in the middle, or the only one.
    @Test(arguments: [[0], [3], [1, 2], [0, 1], [2, 3], [3, 2, 1], [0, 1, 2, 3]])
    func theOthersStayInOrder(givingUp: [Int]) {
        var admission = admission(limit: .max, waiting: 4)
        for number in givingUp { #expect(admission.remove(UInt64(number)) == number) }
        admission.wait(4, 4)
        let left = (0..<5).filter { !givingUp.contains($0) }
        #expect(left.map { _ in admission.next(0) } == left)
        #expect(admission.isEmpty)
        #expect(admission.next(0) == nil)
    }
}

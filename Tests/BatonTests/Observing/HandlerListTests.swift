import Testing

@testable import Baton

@Suite struct HandlerListTests {
    private let nothing: HandlerList.Call = { _ in }

    @Test func whatIsDueIsDeliveredByOneAtATime() {
        var list = HandlerList()
        let answers = [
            list.add(at: .start, isPast: false, nothing), list.add(at: .finish, isPast: false, nothing),
            list.reach(.start), list.reach(.start), list.reach(.finish),
        ]
        #expect(answers == [false, false, true, false, false])
        #expect(list.nextDue() != nil)
        #expect(list.nextDue() != nil)
        #expect(list.nextDue() == nil)
        let late = list.add(at: .finish, isPast: true, nothing)
        #expect(late)
        #expect(list.nextDue() != nil)
        #expect(list.nextDue() == nil)
    }

    @Test func aMomentTakesItsOwnHandlersOnly() {
        var list = HandlerList()
        _ = list.add(at: .cancel, isPast: false, nothing)
        let answers = [list.reach(.start), list.reach(.cancel)]
        #expect(answers == [false, true])
    }

    @Test func theFinishDropsWhatIsLeft() {
        var list = HandlerList()
        _ = list.add(at: .start, isPast: false, nothing)
        list.addForProducts { _ in }
        let answers = [list.reach(.finish), list.reach(.start), list.reachProduct(AsyncOperation {})]
        #expect(answers == [false, false, false])
    }

    @Test func onlyStartAndWillFinishSurroundTheBody() {
        var list = HandlerList()
        _ = list.add(at: .cancel, isPast: false, nothing)
        _ = list.add(at: .finish, isPast: false, nothing)
        list.addForProducts { _ in }
        #expect(!list.surroundBody)
        var starting = list
        _ = starting.add(at: .start, isPast: false, nothing)
        #expect(starting.surroundBody)
        _ = list.addBeforeFinish(isFinished: false, nothing)
        #expect(list.surroundBody)
    }

    @Test func aWillFinishHandlerThatComesTooLateIsCalledAtTheFinish() {
        var list = HandlerList()
        _ = list.addBeforeFinish(isFinished: false, nothing)
        let holds = list.beginFinishing()
        #expect(holds)
        #expect(list.nextBeforeFinish() != nil)
        #expect(list.nextBeforeFinish() == nil)
        let startsBefore = list.addBeforeFinish(isFinished: false, nothing)
        let startsAtFinish = list.reach(.finish)
        #expect(!startsBefore && startsAtFinish)
        #expect(list.nextBeforeFinish() == nil)
    }
}

import Testing

@testable import Baton

@Suite struct HandlerListTests {
    private let nothing: HandlerList.Call = { _ in }

    @Test func whatIsDueIsDeliveredByOneAtATime() {
        var list = HandlerList()
        list.add(at: .start, nothing)
        list.add(at: .finish, nothing)
        #expect(!list.effects.isDue)
        list.reach(.start)
        let first = list.startDelivery()
        list.reach(.finish)
        let second = list.startDelivery()
        #expect(first && !second)
        #expect(list.nextDue() != nil)
        #expect(list.nextDue() != nil)
        #expect(list.nextDue() == nil)
        list.add(at: .finish, nothing)
        list.reach(.finish)
        let late = list.startDelivery()
        #expect(late)
    }

    @Test func aMomentTakesItsOwnHandlersOnly() {
        var list = HandlerList()
        list.add(at: .cancel, nothing)
        list.reach(.start)
        #expect(!list.effects.isDue)
        list.reach(.cancel)
        #expect(list.effects.isDue)
    }

    @Test func theFinishDropsWhatIsLeft() {
        var list = HandlerList()
        list.add(at: .start, nothing)
        list.addForProducts { _ in }
        list.reach(.finish)
        let effects = list.takeUncalled()
        list.reach(.start)
        list.reachProduct(AsyncOperation {})
        #expect(!list.effects.isDue && !effects.isDue)
    }

    @Test func onlyDidStartSurroundsTheBody() {
        var list = HandlerList()
        list.add(at: .cancel, nothing)
        list.add(at: .finish, nothing)
        list.addForProducts { _ in }
        list.addBeforeFinish(nothing)
        #expect(!list.surroundBody)
        list.add(at: .start, nothing)
        #expect(list.surroundBody)
    }

    @Test func aWillFinishHandlerThatComesTooLateIsCalledAtTheFinish() {
        var list = HandlerList()
        list.addBeforeFinish(nothing)
        let holds = list.beginFinishing()
        #expect(holds)
        #expect(list.nextBeforeFinish() != nil)
        #expect(list.nextBeforeFinish() == nil)
        list.addBeforeFinish(nothing)
        #expect(list.nextBeforeFinish() == nil)
        #expect(!list.effects.isDue)
        list.reach(.finish)
        #expect(list.effects.isDue)
    }
}

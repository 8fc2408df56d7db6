import BatonTesting
import Testing

@testable import Baton

@Suite struct HandlerListTests {
    private let nothing: HandlerList.Call = { _ in }

    @Test func oneThreadAtATimeDeliversDueHandlers() {
        var list = HandlerList()
        list.add(at: .start, nothing)
        list.add(at: .finish, nothing)
        #expect(!list.actions.isDue)
        list.makeDue(.start)
        #expect(list.actions.isDue)
        #expect(list.startCall() != nil)
        list.makeDue(.finish)
        #expect(!list.actions.isDue)
        #expect(list.startCall() == nil, "Somebody else delivers.")
        #expect(list.nextDue(isCancelled: false) != nil)
        #expect(list.nextDue(isCancelled: false) == nil)
        list.add(at: .finish, nothing)
        list.makeDue(.finish)
        #expect(list.startCall() != nil)
    }

    @Test func aDeliveryThatIsCancelledLeavesTheRest() {
        var list = HandlerList()
        list.add(at: .finish, nothing)
        list.add(at: .finish, nothing)
        list.makeDue(.finish)
        #expect(list.startCall() != nil)
        #expect(list.nextDue(isCancelled: true) == nil)
        #expect(list.actions.isDue)
        #expect(list.startCall() != nil)
        #expect(list.nextDue(isCancelled: true) == nil)
        #expect(!list.actions.isDue)
    }

    @Test func everyMomentKeepsTheOrderOfItsHandlers() async {
        var list = HandlerList()
        let called = EventLog<String>()
        for number in 0..<3 {
            list.add(at: .finish) { _ in called("finish \(number)") }
            list.add(at: .start) { _ in called("start \(number)") }
        }
        list.makeDue(.start)
        list.makeDue(.finish)
        var next = list.startCall()
        while let handler = next {
            await handler.call(AsyncOperation {})
            next = list.nextDue(isCancelled: false)
        }
        #expect(called.events == ["start 0", "start 1", "start 2", "finish 0", "finish 1", "finish 2"])
    }

    @Test func aMomentTakesItsOwnHandlersOnly() {
        var list = HandlerList()
        list.add(at: .cancel, nothing)
        list.makeDue(.start)
        #expect(!list.actions.isDue)
        list.makeDue(.cancel)
        #expect(list.actions.isDue)
    }

    @Test func theFinishDropsWhatIsLeft() {
        var list = HandlerList()
        list.add(at: .start, nothing)
        list.add(at: .product, nothing)
        list.makeDue(.finish)
        let actions = list.takeUncalled()
        list.makeDue(.start)
        list.makeDue(forProduct: AsyncOperation {})
        #expect(!list.actions.isDue && !actions.isDue)
    }

    @Test func onlyDidStartSurroundsTheBody() {
        var list = HandlerList()
        list.add(at: .cancel, nothing)
        list.add(at: .finish, nothing)
        list.add(at: .product, nothing)
        list.addBeforeFinish(nothing)
        #expect(!list.hasStartHandler)
        list.add(at: .start, nothing)
        #expect(list.hasStartHandler)
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
        #expect(!list.actions.isDue)
        list.makeDue(.finish)
        #expect(list.actions.isDue)
    }

    @Test func productsAreToldInOrder() async {
        var list = HandlerList()
        let called = EventLog<String>()
        list.add(at: .product) { called("first: \($0.name ?? "?")") }
        list.add(at: .product) { called("second: \($0.name ?? "?")") }
        for name in ["a", "b"] { list.makeDue(forProduct: AsyncOperation(name) {}) }
        var next = list.startCall()
        while let handler = next {
            await handler.call(AsyncOperation {})
            next = list.nextDue(isCancelled: false)
        }
        #expect(called.events == ["first: a", "second: a", "first: b", "second: b"])
    }

    @Test("A `didProduce` handler is called for each product")
    func oneForAProductIsCalledForEach() {
        var list = HandlerList()
        list.add(at: .product, nothing)
        for _ in 0..<2 { list.makeDue(forProduct: AsyncOperation {}) }
        #expect(list.startCall() != nil)
        #expect(list.nextDue(isCancelled: false) != nil)
        #expect(list.nextDue(isCancelled: false) == nil)
    }

    /// Each handler is moved once, however many wait to be called.
    @Test(.timeLimit(.minutes(10))) func veryManyThatLagAreNoBurden() {
        var list = HandlerList()
        list.add(at: .product, nothing)
        for _ in 0..<veryMany {
            list.add(at: .start, nothing)
            list.makeDue(.start)
            list.makeDue(forProduct: AsyncOperation {})
        }
        #expect(list.startCall() != nil)
        var count = 1
        while list.nextDue(isCancelled: false) != nil { count += 1 }
        #expect(count == 2 * veryMany)
    }
}

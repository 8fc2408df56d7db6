import Testing

@testable import Baton

@Suite("The state machines of a shutdown by signals")
struct SignalStateMachineTests {
    private final class Subscriber {}

    @Test("The first signal drains, the second one cancels, and a third one at the same time does nothing")
    func signals() {
        var machine = SignalShutdownStateMachine()
        #expect(machine.signalArrived(.interrupt) == .drain)
        #expect(machine.signalArrived(.terminate) == .cancel)
        #expect(machine.signalArrived(.hangUp) == .none)
        #expect(!machine.isFinished)
        #expect(machine.finish() == .interrupt)
        #expect(machine.isFinished)
        #expect(machine.signalArrived(.interrupt) == .none)
    }

    @Test("A shutdown without a signal returns none")
    func noSignal() {
        var machine = SignalShutdownStateMachine()
        #expect(machine.finish() == nil)
        #expect(machine.signalArrived(.interrupt) == .none)
    }

    @Test("A shutdown that ends while it drains returns its signal")
    func endWhileDraining() {
        var machine = SignalShutdownStateMachine()
        _ = machine.signalArrived(.terminate)
        #expect(machine.finish() == .terminate)
    }

    @Test("A signal is caught for its first subscriber, and released with its last one")
    func subscriptions() {
        var subscriptions = SignalSubscriptions<Subscriber>()
        let (first, second) = (Subscriber(), Subscriber())
        #expect(subscriptions.add(first, to: .interrupt) == .catchSignal)
        #expect(subscriptions.add(first, to: .interrupt) == .none)
        #expect(subscriptions.add(second, to: .interrupt) == .none)
        #expect(subscriptions.add(second, to: .terminate) == .catchSignal)
        #expect(subscriptions.subscribers(of: .interrupt).map { $0 === first } == [true, false])
        #expect(subscriptions.subscribers(of: .hangUp).isEmpty)
        #expect(subscriptions.remove(first, from: .terminate) == .none)
        #expect(subscriptions.remove(first, from: .interrupt) == .none)
        #expect(subscriptions.remove(first, from: .interrupt) == .none)
        #expect(subscriptions.remove(second, from: .interrupt) == .releaseSignal)
        #expect(subscriptions.remove(second, from: .interrupt) == .none)
        #expect(subscriptions.subscribers(of: .terminate).map { $0 === second } == [true])
        #expect(subscriptions.add(first, to: .interrupt) == .catchSignal)
    }

    @Test("A signal has the name that the system gives it, or its number")
    func names() {
        let signals: [ShutdownSignal] = [.interrupt, .terminate, .hangUp, ShutdownSignal(rawValue: 30)]
        #expect(signals.map(\.description) == ["SIGINT", "SIGTERM", "SIGHUP", "signal 30"])
        #expect(signals.map(\.rawValue) == [2, 15, 1, 30])
    }
}

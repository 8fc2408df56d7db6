import BatonTesting
import Testing

@testable import Baton

/// Tests of the circuit breaker as a value.
@Suite struct CircuitStateMachineTests {
    private var machine = CircuitStateMachine(failures: 2, openTime: .seconds(30))

    /// Asks whether an operation may run. Returns its admission, or nil if the circuit breaker refuses.
    private func ask(_ machine: inout CircuitStateMachine, at seconds: Int) -> CircuitStateMachine.Admission? {
        switch machine.ask(at: .seconds(seconds)) {
        case .admit(let admission): admission
        case .refuse: nil
        }
    }

    private func refusal(_ machine: inout CircuitStateMachine, at seconds: Int) -> String {
        switch machine.ask(at: .seconds(seconds)) {
        case .admit: "admitted"
        case .refuse(let left): left.map { "\($0)" } ?? "trial"
        }
    }

    private func open(_ machine: inout CircuitStateMachine, at seconds: Int) {
        for _ in 0..<2 {
            guard let admission = ask(&machine, at: seconds) else { return }
            machine.end(admission, as: .failure, at: .seconds(seconds))
        }
    }

    @Test("It opens after the configured number of failures in a row")
    func opens() throws {
        var machine = machine
        for verdict in [CircuitStateMachine.Verdict.failure, .success, .failure, .nothing] {
            machine.end(try #require(ask(&machine, at: 0)), as: verdict, at: .zero)
            #expect(machine.state == .closed)
        }
        machine.end(try #require(ask(&machine, at: 1)), as: .failure, at: .seconds(1))
        #expect(machine.state == .open)
        #expect(machine.changeCount == 1)
        #expect(refusal(&machine, at: 1) == "30.0 seconds")
        #expect(refusal(&machine, at: 30) == "1.0 seconds")
    }

    @Test("After the open time one trial is admitted, and its success closes the breaker")
    func closes() throws {
        var machine = machine
        open(&machine, at: 0)
        let trial = try #require(ask(&machine, at: 30))
        #expect(machine.state == .halfOpen)
        #expect(refusal(&machine, at: 30) == "trial")
        #expect(refusal(&machine, at: 1000) == "trial")
        machine.end(trial, as: .success, at: .seconds(31))
        #expect(machine.state == .closed)
        // The failures from before the breaker opened no longer count.
        machine.end(try #require(ask(&machine, at: 31)), as: .failure, at: .seconds(31))
        #expect(machine.state == .closed)
    }

    @Test("A trial that fails opens the breaker again for the whole open time")
    func opensAgain() throws {
        var machine = machine
        open(&machine, at: 0)
        machine.end(try #require(ask(&machine, at: 30)), as: .failure, at: .seconds(35))
        #expect(machine.state == .open)
        #expect(refusal(&machine, at: 36) == "29.0 seconds")
        #expect(machine.changeCount == 3)
    }

    @Test("A look says what an operation would be told, and begins no trial")
    func looks() throws {
        var machine = machine
        #expect(machine.look(at: .zero) == .pass)
        open(&machine, at: 0)
        #expect(machine.look(at: .seconds(12)) == .refuse(timeLeft: .seconds(18)))
        #expect(machine.look(at: .seconds(30)) == .pass)
        #expect(machine.look(at: .seconds(30)) == .pass)
        #expect(machine.state == .open)
        let trial = try #require(ask(&machine, at: 30))
        #expect(machine.look(at: .seconds(31)) == .refuse(timeLeft: nil))
        machine.end(trial, as: .nothing, at: .seconds(31))
        #expect(machine.look(at: .seconds(31)) == .pass)
        #expect(machine.state == .halfOpen)
    }

    @Test("A look at a clock that has gone back restarts the open time")
    func looksAtClocksThatGoBack() {
        var machine = machine
        open(&machine, at: 1_000_000)
        #expect(machine.look(at: .seconds(10)) == .refuse(timeLeft: .seconds(30)))
        #expect(machine.look(at: .seconds(40)) == .pass)
    }

    @Test("A trial that says nothing gives its permission back, once")
    func givesBack() throws {
        var machine = machine
        open(&machine, at: 0)
        let first = try #require(ask(&machine, at: 30))
        machine.end(first, as: .nothing, at: .seconds(31))
        #expect(machine.state == .halfOpen)
        let second = try #require(ask(&machine, at: 31))
        machine.end(first, as: .nothing, at: .seconds(32))
        machine.end(first, as: .success, at: .seconds(32))
        #expect(refusal(&machine, at: 32) == "trial")
        machine.end(second, as: .success, at: .seconds(33))
        #expect(machine.state == .closed)
    }

    @Test("Operations that were admitted before the last change of state do not count")
    func stale() throws {
        var machine = machine
        let slow = try #require(ask(&machine, at: 0))
        open(&machine, at: 0)
        machine.end(slow, as: .success, at: .seconds(1))
        #expect(machine.state == .open)
        let trial = try #require(ask(&machine, at: 30))
        machine.end(slow, as: .failure, at: .seconds(30))
        #expect(machine.state == .halfOpen)
        machine.end(trial, as: .success, at: .seconds(31))
        machine.end(slow, as: .failure, at: .seconds(31))
        machine.end(try #require(ask(&machine, at: 31)), as: .failure, at: .seconds(31))
        #expect(machine.state == .closed)
    }

    @Test("A clock that goes back restarts the open time, and has no other effect")
    func clocksGoBack() {
        var machine = machine
        open(&machine, at: 1_000_000)
        #expect(refusal(&machine, at: 10) == "30.0 seconds")
        #expect(refusal(&machine, at: 20) == "20.0 seconds")
        #expect(refusal(&machine, at: 40) == "admitted")
    }

    @Test("At most one trial runs at a time, and no permission is lost", arguments: 1...50 as ClosedRange<UInt64>)
    func oneTrial(_ seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        var machine = machine
        var admissions: [(admission: CircuitStateMachine.Admission, isTrial: Bool)] = []
        var now = 0
        for _ in 0..<2000 {
            now += Int.random(in: 0..<12, using: &random)
            if Bool.random(using: &random) || admissions.isEmpty {
                let trials = admissions.count { $0.isTrial }
                guard let admission = ask(&machine, at: now) else {
                    // The breaker refuses only while it is open or while a trial runs.
                    #expect(machine.state == .open || trials == 1)
                    continue
                }
                #expect(machine.state == .closed || trials == 0)
                admissions.append((admission, machine.state == .halfOpen))
            } else {
                let place = Int.random(in: 0..<admissions.count, using: &random)
                let verdict = [CircuitStateMachine.Verdict.success, .failure, .failure, .nothing].randomElement(
                    using: &random)!
                let admission = admissions.remove(at: place).admission
                machine.end(admission, as: verdict, at: .seconds(now))
                if Bool.random(using: &random) { machine.end(admission, as: .nothing, at: .seconds(now)) }
            }
        }
        #expect(machine.changeCount > 10)
    }

    @Test("Enormous times do not overflow")
    func extremes() {
        var machine = CircuitStateMachine(failures: 1, openTime: .endless)
        guard let admission = ask(&machine, at: 0) else {
            Issue.record("it is closed")
            return
        }
        machine.end(admission, as: .failure, at: .zero - .endless)
        _ = machine.ask(at: .endless)
        #expect(machine.state == .halfOpen)
    }
}

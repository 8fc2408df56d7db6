extension AnyOperation {
    /// Makes this start only after `operation` has finished, whatever its outcome.
    ///
    /// The two may be on different queues. Somebody must add `operation`, too, or this waits for ever; ``explain()`` says so.
    /// A circle of dependencies is found when its last member is added: each of them then fails with
    /// ``OperationError/dependencyCycle(_:)``. After the add this is ``Misuse`` and changes nothing.
    @discardableResult
    @inlinable
    public final func addDependency(
        _ operation: AnyOperation, file: StaticString = #fileID, line: UInt = #line
    ) -> Self {
        connect(to: operation, file, line)
        return self
    }

    /// Apart, so that returning `self` costs nothing where nobody wants it.
    @usableFromInline
    final func connect(to operation: AnyOperation, _ file: StaticString, _ line: UInt) {
        let isTooLate = life.withLock { life in
            if life.phase != .created { return true }
            edges.append(operation)
            return false
        }
        if isTooLate { reportTooLate("a dependency", file, line) }
    }

    /// Takes back ``addDependency(_:file:line:)``. Nothing happens if there is no such dependency.
    ///
    /// A dependency that hands over its output as an input cannot be removed. That, and a removal after the add, is
    /// ``Misuse`` and changes nothing.
    public final func removeDependency(
        _ operation: AnyOperation, file: StaticString = #fileID, line: UInt = #line
    ) {
        enum Answer {
            case done, tooLate, isInput
        }
        let answer = life.withLock { life -> Answer in
            if life.phase != .created { return .tooLate }
            let all = edges.all
            let inputs = all.prefix(life.inputCount)
            edges = Edges(inputs + all.dropFirst(inputs.count).filter { $0 !== operation })
            return inputs.contains { $0 === operation } ? .isInput : .done
        }
        switch answer {
        case .done: break
        case .tooLate: reportTooLate("a dependency", file, line)
        case .isInput:
            let place = CallSite(file: file, line: line)
            report(Misuse(.removedInput(operation.reference), operation: reference, callSite: place))
        }
    }

    /// What this waits for, each once, in the order added; inputs come first. Empty when it has finished.
    public final var dependencies: [AnyOperation] {
        var seen: Set<ObjectIdentifier> = []
        let all = life.withLock { $0.phase == .finished ? [] : edges.all }
        return all.filter { seen.insert(ObjectIdentifier($0)).inserted }
    }

    private final func reportTooLate(_ what: String, _ file: StaticString, _ line: UInt) {
        change(what, CallSite(file: file, line: line)) { _ in }
    }
}

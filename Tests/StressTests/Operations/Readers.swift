import Baton

/// Operations that do not need the outputs of their inputs, or have no body of their own.
extension OperationFactory {
    static func reader(_ node: Node, _ body: Body, _ inputs: [AsyncOperation<Value>]) -> AsyncOperation<Value> {
        switch node.inputUse {
        case .recovering: return recovering(inputs[0], node, body)
        case .withDefault:
            let instead = Value(number: InputUse.defaultNumber, token: Token(body.site.recorder.census))
            return AsyncOperation(ReadingOne(body: body), input: inputs[0], default: instead)
        case .combined:
            let start = Value(number: Hash(node.id).value, token: Token(body.site.recorder.census))
            return AsyncOperation<Value>.reduce(inputs, start) { value, next in
                var hash = Hash(goingOnFrom: value.number)
                hash.mix(next.number)
                return Value(number: hash.value, token: Token(body.site.recorder.census))
            }
        case .delayed:
            let delay = node.delay ?? .zero
            return node.id.isMultiple(of: 3) ? inputs[0].delayed(untilAtLeast: delay) : inputs[0].delayed(by: delay)
        case .values, .outcomes: return outcomes(body, inputs)
        }
    }

    private static func outcomes(_ body: Body, _ inputs: [AsyncOperation<Value>]) -> AsyncOperation<Value> {
        switch inputs.count {
        case 1:
            return AsyncOperation(resultOf: inputs[0]) { result, context in
                try await body.run([try? result.get()], context)
            }
        case 2:
            return AsyncOperation(resultOf: inputs[0], inputs[1]) { a, b, context in
                try await body.run([try? a.get(), try? b.get()], context)
            }
        default:
            return AsyncOperation(resultOf: inputs[0], inputs[1], inputs[2]) { a, b, c, context in
                try await body.run([try? a.get(), try? b.get(), try? c.get()], context)
            }
        }
    }

    private static func recovering(
        _ input: AsyncOperation<Value>, _ node: Node, _ body: Body
    ) -> AsyncOperation<Value> {
        input.recover { [weak input] error in
            let recorder = body.site.recorder
            if let input { recorder.saw(input.reference.node, Outcome(error)) }
            if node.throwsAtTheEnd { throw Thrown(by: node.id, token: Token(recorder.census)) }
            var hash = Hash(node.id)
            hash.mix(nil)
            return Value(number: hash.value, token: Token(recorder.census))
        }
    }
}

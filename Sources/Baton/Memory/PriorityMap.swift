/// One value for each of the five priorities.
struct PriorityMap<Value> {
    private var values: (Value, Value, Value, Value, Value)

    init(repeating value: Value) { values = (value, value, value, value, value) }

    subscript(priority: OperationPriority) -> Value {
        switch priority {
        case .veryLow: values.0
        case .low: values.1
        case .normal: values.2
        case .high: values.3
        case .veryHigh: values.4
        }
    }

    /// Changes the value of a priority. It is selected by index, because a `switch` takes several times as long. This
    /// is safe, because a tuple of elements of one type is laid out as an array, and the raw values of the priorities
    /// are 0 to 4.
    @inline(__always)
    mutating func change<Result>(_ priority: OperationPriority, _ body: (inout Value) -> Result) -> Result {
        withUnsafeMutablePointer(to: &values) { values in
            values.withMemoryRebound(to: Value.self, capacity: 5) { body(&$0[Int(priority.rawValue)]) }
        }
    }
}

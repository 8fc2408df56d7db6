import Baton

// Times are encoded as whole nanoseconds, clamped to ±2^61, which are 73 years. This is short, and exact unless a clock
// has a finer resolution. Nil, false and empty values are left out.

extension Trace: Codable {
    private enum CodingKeys: String, CodingKey {
        case queueName, queueNumber, start, end, eventCount, operations, suspensions
    }

    /// Decodes a trace.
    ///
    /// - Parameter decoder: The decoder to read from.
    /// - Throws: A `DecodingError` if the data is not that of a trace. Missing optional values are not an error, and a
    ///   missing `start` or `end` counts as zero.
    public init(from decoder: any Decoder) throws {
        let values = try decoder.container(keyedBy: CodingKeys.self)
        queueName = try values.decodeIfPresent(String.self, forKey: .queueName)
        queueNumber = try values.decodeIfPresent(UInt32.self, forKey: .queueNumber)
        start = try values.time(.start) ?? .zero
        end = try values.time(.end) ?? .zero
        eventCount = try values.decode(Int.self, forKey: .eventCount)
        operations = try values.decode([TracedOperation].self, forKey: .operations)
        suspensions = try values.decodeIfPresent([Suspension].self, forKey: .suspensions) ?? []
    }

    /// Encodes the trace.
    ///
    /// - Parameter encoder: The encoder to write to.
    /// - Throws: Any error of the encoder.
    public func encode(to encoder: any Encoder) throws {
        var values = encoder.container(keyedBy: CodingKeys.self)
        try values.encodeIfPresent(queueName, forKey: .queueName)
        try values.encodeIfPresent(queueNumber, forKey: .queueNumber)
        try values.encode(start, .start)
        try values.encode(end, .end)
        try values.encode(eventCount, forKey: .eventCount)
        try values.encode(operations, forKey: .operations)
        if !suspensions.isEmpty { try values.encode(suspensions, forKey: .suspensions) }
    }
}

extension Trace.Suspension: Codable {
    private enum CodingKeys: String, CodingKey { case start, end }

    /// Decodes a suspension.
    ///
    /// - Parameter decoder: The decoder to read from.
    /// - Throws: A `DecodingError` if the data is not that of a suspension.
    public init(from decoder: any Decoder) throws {
        let values = try decoder.container(keyedBy: CodingKeys.self)
        start = try values.requiredTime(.start)
        end = try values.time(.end)
    }

    /// Encodes the suspension.
    ///
    /// - Parameter encoder: The encoder to write to.
    /// - Throws: Any error of the encoder.
    public func encode(to encoder: any Encoder) throws {
        var values = encoder.container(keyedBy: CodingKeys.self)
        try values.encode(start, .start)
        try values.encode(end, .end)
    }
}

extension TracedOperation: Codable {
    private enum CodingKeys: String, CodingKey {
        case reference, parent, producer, edges, added, hasWaited, dependenciesMet, delayed, evaluating, attempts,
            cancel
        case suspensions, finished, outcome, error, progress, misuses
    }

    /// Decodes an operation.
    ///
    /// - Parameter decoder: The decoder to read from.
    /// - Throws: A `DecodingError` if the data is not that of an operation. Missing optional values are not an error.
    public init(from decoder: any Decoder) throws {
        let values = try decoder.container(keyedBy: CodingKeys.self)
        self.init(try values.decode(OperationReference.self, forKey: .reference))
        parent = try values.decodeIfPresent(OperationReference.self, forKey: .parent)
        producer = try values.decodeIfPresent(OperationReference.self, forKey: .producer)
        edges = try values.decodeIfPresent([Edge].self, forKey: .edges) ?? []
        added = try values.time(.added)
        hasWaited = try values.decodeIfPresent(Bool.self, forKey: .hasWaited) ?? false
        dependenciesMet = try values.time(.dependenciesMet)
        delayed = try values.time(.delayed)
        evaluating = try values.time(.evaluating)
        attempts = try values.decodeIfPresent([Attempt].self, forKey: .attempts) ?? []
        suspensions = try values.decodeIfPresent([Trace.Suspension].self, forKey: .suspensions) ?? []
        cancel = try values.decodeIfPresent(Cancel.self, forKey: .cancel)
        finished = try values.time(.finished)
        outcome = try values.decodeIfPresent(Outcome.self, forKey: .outcome)
        error = try values.decodeIfPresent(String.self, forKey: .error)
        progress = try values.decodeIfPresent(Double.self, forKey: .progress)
        misuses = try values.decodeIfPresent([String].self, forKey: .misuses) ?? []
    }

    /// Encodes the operation.
    ///
    /// - Parameter encoder: The encoder to write to.
    /// - Throws: Any error of the encoder.
    public func encode(to encoder: any Encoder) throws {
        var values = encoder.container(keyedBy: CodingKeys.self)
        try values.encode(reference, forKey: .reference)
        try values.encodeIfPresent(parent, forKey: .parent)
        try values.encodeIfPresent(producer, forKey: .producer)
        if !edges.isEmpty { try values.encode(edges, forKey: .edges) }
        try values.encode(added, .added)
        if hasWaited { try values.encode(true, forKey: .hasWaited) }
        try values.encode(dependenciesMet, .dependenciesMet)
        try values.encode(delayed, .delayed)
        try values.encode(evaluating, .evaluating)
        if !attempts.isEmpty { try values.encode(attempts, forKey: .attempts) }
        if !suspensions.isEmpty { try values.encode(suspensions, forKey: .suspensions) }
        try values.encodeIfPresent(cancel, forKey: .cancel)
        try values.encode(finished, .finished)
        try values.encodeIfPresent(outcome, forKey: .outcome)
        try values.encodeIfPresent(error, forKey: .error)
        try values.encodeIfPresent(progress, forKey: .progress)
        if !misuses.isEmpty { try values.encode(misuses, forKey: .misuses) }
    }
}

extension TracedOperation.Attempt: Codable {
    private enum CodingKeys: String, CodingKey { case number, ready, acquiring, start, end, error, pause, obstacles }

    /// Decodes an attempt.
    ///
    /// - Parameter decoder: The decoder to read from.
    /// - Throws: A `DecodingError` if the data is not that of an attempt.
    public init(from decoder: any Decoder) throws {
        let values = try decoder.container(keyedBy: CodingKeys.self)
        number = try values.decode(Int.self, forKey: .number)
        ready = try values.time(.ready)
        acquiring = try values.time(.acquiring)
        start = try values.time(.start)
        end = try values.time(.end)
        error = try values.decodeIfPresent(String.self, forKey: .error)
        pause = try values.time(.pause)
        obstacles = try values.decodeIfPresent([TracedOperation.Obstacle].self, forKey: .obstacles) ?? []
    }

    /// Encodes the attempt.
    ///
    /// - Parameter encoder: The encoder to write to.
    /// - Throws: Any error of the encoder.
    public func encode(to encoder: any Encoder) throws {
        var values = encoder.container(keyedBy: CodingKeys.self)
        try values.encode(number, forKey: .number)
        try values.encode(ready, .ready)
        try values.encode(acquiring, .acquiring)
        try values.encode(start, .start)
        try values.encode(end, .end)
        try values.encodeIfPresent(error, forKey: .error)
        try values.encode(pause, .pause)
        if !obstacles.isEmpty { try values.encode(obstacles, forKey: .obstacles) }
    }
}

extension TracedOperation.Obstacle: Codable {
    private enum CodingKeys: String, CodingKey { case reason, name, holder, start, end }

    /// Decodes an obstacle.
    ///
    /// - Parameter decoder: The decoder to read from.
    /// - Throws: A `DecodingError` if the data is not that of an obstacle.
    public init(from decoder: any Decoder) throws {
        let values = try decoder.container(keyedBy: CodingKeys.self)
        reason = try values.decode(TracedWait.Reason.self, forKey: .reason)
        name = try values.decodeIfPresent(String.self, forKey: .name)
        holder = try values.decodeIfPresent(OperationReference.self, forKey: .holder)
        start = try values.requiredTime(.start)
        end = try values.time(.end)
    }

    /// Encodes the obstacle.
    ///
    /// - Parameter encoder: The encoder to write to.
    /// - Throws: Any error of the encoder.
    public func encode(to encoder: any Encoder) throws {
        var values = encoder.container(keyedBy: CodingKeys.self)
        try values.encode(reason, forKey: .reason)
        try values.encodeIfPresent(name, forKey: .name)
        try values.encodeIfPresent(holder, forKey: .holder)
        try values.encode(start, .start)
        try values.encode(end, .end)
    }
}

extension TracedOperation.Cancel: Codable {
    private enum CodingKeys: String, CodingKey { case time, reason }

    /// Decodes a cancellation.
    ///
    /// - Parameter decoder: The decoder to read from.
    /// - Throws: A `DecodingError` if the data is not that of a cancellation.
    public init(from decoder: any Decoder) throws {
        let values = try decoder.container(keyedBy: CodingKeys.self)
        time = try values.requiredTime(.time)
        reason = try values.decode(String.self, forKey: .reason)
    }

    /// Encodes the cancellation.
    ///
    /// - Parameter encoder: The encoder to write to.
    /// - Throws: Any error of the encoder.
    public func encode(to encoder: any Encoder) throws {
        var values = encoder.container(keyedBy: CodingKeys.self)
        try values.encode(time, .time)
        try values.encode(reason, forKey: .reason)
    }
}

extension KeyedDecodingContainer {
    fileprivate func requiredTime(_ key: Key) throws -> Duration { .nanoseconds(try decode(Int64.self, forKey: key)) }

    fileprivate func time(_ key: Key) throws -> Duration? {
        try decodeIfPresent(Int64.self, forKey: key).map { .nanoseconds($0) }
    }
}

extension KeyedEncodingContainer {
    fileprivate mutating func encode(_ time: Duration?, _ key: Key) throws {
        try encodeIfPresent(time?.nanoseconds, forKey: key)
    }
}

extension Duration {
    /// The duration in whole nanoseconds, clamped to ±2^61, which are 73 years. The sum or the difference of two values
    /// does not overflow, even for a decoded trace with arbitrary times.
    var nanoseconds: Int64 {
        let most: Int64 = 1 << 61
        let (seconds, attoseconds) = components
        if seconds.magnitude > UInt64(most / 1_000_000_000) { return seconds < 0 ? -most : most }
        return min(max(seconds * 1_000_000_000 + attoseconds / 1_000_000_000, -most), most)
    }
}

/// The last bytes of an output of any length.
struct Tail {
    private var bytes: [UInt8] = []
    private let limit: Int

    init(limit: Int) { self.limit = max(0, limit) }

    mutating func append(_ piece: [UInt8]) {
        bytes.append(contentsOf: piece.suffix(limit))
        // Up to twice the limit is kept, so that small pieces do not each move all the bytes that are kept.
        if bytes.count / 2 > limit { bytes.removeFirst(bytes.count - limit) }
    }

    var content: ArraySlice<UInt8> { bytes.suffix(limit) }
}

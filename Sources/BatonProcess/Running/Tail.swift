/// The last bytes of an output, however long that is.
struct Tail {
    private var bytes: [UInt8] = []
    private let limit: Int

    init(limit: Int) { self.limit = max(0, limit) }

    mutating func append(_ piece: [UInt8]) {
        bytes.append(contentsOf: piece.suffix(limit))
        // Twice as much is kept, so that little pieces are not each paid for with a move of all that is kept.
        if bytes.count / 2 > limit { bytes.removeFirst(bytes.count - limit) }
    }

    var content: ArraySlice<UInt8> { bytes.suffix(limit) }
}

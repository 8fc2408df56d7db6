/// A workload. The raw value is its name in tables, in the JSON file and after `--workload`.
enum Workload: String, CaseIterable, Sendable {
    case independent = "a"
    case chain = "b"
    case fan = "c"
    case layers = "d"
    case values = "e"
    case rules = "f"
    case groups = "g"
    case groupsDeep = "g-deep"
    case bodies1 = "h1"
    case bodies10 = "h10"
    case bodies100 = "h100"
    case adding = "i"
    case addingReversed = "i-reversed"
    case timed = "j"
    case cancelling = "k"
    case recorded = "l"
    case memory
    case release

    var title: String {
        switch self {
        case .independent: "N independent operations"
        case .chain: "a chain of N"
        case .fan: "1 → N → 1"
        case .layers: "layers of √N, three dependencies each"
        case .values: "a chain that passes a value"
        case .rules: "a chain with one condition and one didFinish handler each"
        case .groups: "groups of ten in groups of ten, N operations in all"
        case .groupsDeep: "N groups, one in another"
        case .bodies1: "independent bodies of 1 µs, width 2"
        case .bodies10: "independent bodies of 10 µs, width 2"
        case .bodies100: "independent bodies of 100 µs, width 2"
        case .adding: "independent operations, added one by one by four tasks"
        case .addingReversed: "a chain, added last operation first, one by one by four tasks, into a suspended queue"
        case .timed: "N independent operations with a retry and a timeout that are not used"
        case .cancelling: "cancelling N waiting operations"
        case .recorded: "N independent operations, their events recorded"
        case .memory: "memory of an operation at its peak"
        case .release: "releasing a chain"
        }
    }

    /// True if the workload is a graph, which has empty bodies and is measured from creation to release.
    var isGraph: Bool {
        switch self {
        case .independent, .chain, .fan, .layers, .values: true
        default: false
        }
    }

    /// The time that a body spins, in microseconds.
    var bodyMicroseconds: Int {
        switch self {
        case .bodies1: 1
        case .bodies10: 10
        case .bodies100: 100
        default: 0
        }
    }

    /// The sizes at which the workload is run.
    var counts: [Int] {
        switch self {
        case .independent, .chain, .fan, .layers, .values: [1000, 10_000, 100_000, 1_000_000]
        case .bodies1: [100_000]
        case .bodies10: [10_000]
        case .bodies100: [2000]
        case .rules, .timed, .recorded: [1000, 10_000, 100_000]
        case .groups, .groupsDeep, .adding, .addingReversed, .cancelling: [10_000, 100_000]
        case .memory: [100_000]
        case .release: [1_000_000]
        }
    }

    /// The sizes of a quick run.
    var quickCounts: [Int] {
        switch self {
        case .bodies1: [10_000]
        case .bodies10: [2000]
        case .bodies100: [500]
        case .groups, .groupsDeep, .adding, .addingReversed, .cancelling: [1000, 10_000]
        case .memory, .release: []
        default: counts.filter { $0 <= 10_000 }
        }
    }
}

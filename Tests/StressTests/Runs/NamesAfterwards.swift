@testable import Baton

extension Round {
    /// When everything has finished, nobody holds a name of this round, or waits for one (G12).
    func checkNames() {
        for name in graph.names.indices {
            let text = "\(site.namePrefix) \(name)"
            site.ledger.check(Claims.isFree(.text(text)), "G12: name \(name) is held or waited for when all is over")
        }
    }
}

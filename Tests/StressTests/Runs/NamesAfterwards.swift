import BatonTesting

@testable import Baton

extension Round {
    /// Checks that no operation holds a name of this round or waits for one (G12), or waits for a rate.
    func checkNames() {
        let schedule = site.scheduler.map { OperationScope(of: $0) } ?? .process
        for (number, note) in graph.names.enumerated() {
            let text = ExclusionName.text("\(site.namePrefix) \(number)")
            let scope = note.scope(at: site) ?? schedule
            let name = scope == .process ? text : .within(scope, text)
            let isFree = ExclusionManager.isFree(name)
            site.recorder.check(isFree, "G12: name \(number) is held or waited for when all is over")
        }
        guard let clock = site.scheduler?.clock else { return }
        let waiting = RateManager.counts(of: ObjectIdentifier(clock)).operations
        site.recorder.check(waiting == 0, "\(waiting) operations wait for a rate when all is over")
    }
}

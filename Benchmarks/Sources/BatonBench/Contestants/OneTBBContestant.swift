#if ONETBB
    import COneTBB

    /// oneTBB's flow graph, which runs the same job in C++.
    struct OneTBBContestant: Contestant {
        var name: String { "oneTBB" }

        func largestCount(_ workload: Workload) -> Int? {
            switch workload {
            case .independent, .chain, .fan, .layers, .values: 100_000
            case .bodies1, .bodies10, .bodies100: .max
            default: nil
            }
        }

        func run(_ job: Job) -> Nanoseconds {
            job.workload == .values ? values(job) : graph(job)
        }

        private func graph(_ job: Job) -> Nanoseconds {
            job.graph.dependencies.offsets.withUnsafeBufferPointer { offsets in
                job.graph.dependencies.targets.withUnsafeBufferPointer { dependencies in
                    measure {
                        onetbb_run(
                            job.count,
                            offsets.baseAddress,
                            dependencies.baseAddress,
                            job.iterations == 0 ? nil : { spin($0) },
                            job.iterations
                        )
                    }
                }
            }
        }

        private func values(_ job: Job) -> Nanoseconds {
            var value: Int64 = 0
            let elapsed = measure { value = onetbb_run_value_chain(job.count) }
            precondition(value == job.count, "the chain of \(job.count) made \(value)")
            return elapsed
        }
    }
#endif

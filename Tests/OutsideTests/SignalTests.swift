import Baton
import BatonTesting
import Foundation
import Testing

/// Each test runs in a process of its own, because these signals end a process.
@Suite("Programs that wait for signals", .serialized, .timeLimit(.minutes(10)))
struct SignalTests {
    @Test("A program drains its queue on Ctrl-C and chooses its exit code")
    func drainsOnInterrupt() async {
        await #expect(processExitsWith: .exitCode(7)) {
            let queue = AsyncOperationQueue()
            let report = AsyncOperation("report") { context in
                // Sends the signal only after the handler is installed; before, it would end the process.
                while !isCaught(SIGINT) { await Task.yield() }
                kill(getpid(), SIGINT)
                try await context.sleep(for: .milliseconds(20))
                return "written"
            }.add(to: queue)
            let signal = await queue.shutdown(on: .interrupt, .terminate, within: .seconds(60))
            precondition(signal == .interrupt && (try? report.result?.get()) == "written")
            exit(7)
        }
    }

    @Test("The second signal cancels a body, and a third one ends the program")
    func thirdSignalEnds() async {
        await #expect(processExitsWith: .signal(SIGTERM)) {
            let queue = AsyncOperationQueue()
            queue.add("stubborn") {
                while !isCaught(SIGTERM) { await Task.yield() }
                kill(getpid(), SIGINT)
                // A second signal that arrives while the first is pending would be merged with it.
                while queue.add("late", {}).result == nil { await Task.yield() }
                kill(getpid(), SIGTERM)
                while !Task.isCancelled || isCaught(SIGTERM) { await Task.yield() }
                kill(getpid(), SIGTERM)
                while true { await Task.yield() }
            }
            await queue.shutdown(on: .interrupt, .terminate, within: .seconds(600))
        }
    }

    @Test("After the shutdown a signal ends the program as before")
    func signalAfterwards() async {
        await #expect(processExitsWith: .signal(SIGINT)) {
            let queue = AsyncOperationQueue()
            await queue.drain()
            let signal = await queue.shutdown(on: .interrupt, within: .seconds(1))
            precondition(signal == nil)
            kill(getpid(), SIGINT)
            while true { await Task.yield() }
        }
    }

    #if os(Linux)
        @Test("One thread receives the expected signals, and no others, if all other threads block them")
        func oneThreadTakesThem() async {
            await #expect(processExitsWith: .success) {
                /// Bit n - 1 is set if the thread that receives signals blocks signal n. Nil: the thread has not
                /// started.
                func blocked() -> UInt64? {
                    let tasks = (try? FileManager.default.contentsOfDirectory(atPath: "/proc/self/task")) ?? []
                    for task in tasks {
                        let path = "/proc/self/task/\(task)/status"
                        let text = try? String(contentsOfFile: path, encoding: .utf8)
                        let lines = (text ?? "").split(separator: "\n").map { $0.split(separator: "\t") }
                        guard lines.contains(["Name:", "baton-signals"]) else { continue }
                        return lines.first { $0.first == "SigBlk:" }.flatMap { UInt64($0[1], radix: 16) }
                    }
                    return nil
                }
                func blocks(_ number: Int32) -> Bool { blocked().map { $0 >> (number - 1) & 1 == 1 } ?? true }
                let queue = AsyncOperationQueue()
                let shutdown = Task { await queue.shutdown(on: .interrupt, within: .zero) }
                while blocks(SIGINT) { await Task.yield() }
                precondition(blocks(SIGTERM) && blocks(SIGUSR1))
                shutdown.cancel()
                _ = await shutdown.value
                while !blocks(SIGINT) { await Task.yield() }
            }
        }

        @Test("A thousand shutdowns leave no descriptor and no thread behind")
        func thousandShutdowns() async {
            await #expect(processExitsWith: .success) {
                func count(_ folder: String) -> Int {
                    (try? FileManager.default.contentsOfDirectory(atPath: "/proc/self/\(folder)"))?.count ?? -1
                }
                func shutDown(_ times: Int) async {
                    for _ in 0..<times {
                        let queue = AsyncOperationQueue()
                        queue.add {
                            while !isCaught(SIGUSR1) { await Task.yield() }
                            kill(getpid(), SIGUSR1)
                            while queue.add("late", {}).result == nil { await Task.yield() }
                        }
                        let signal = await queue.shutdown(on: ShutdownSignal(rawValue: SIGUSR1), within: .seconds(60))
                        precondition(signal?.rawValue == SIGUSR1)
                    }
                }
                await shutDown(10)
                let (files, threads) = (count("fd"), count("task"))
                await shutDown(1_000)
                // Services and Dispatch may have opened some descriptors and threads meanwhile, but far fewer than one
                // for each shutdown.
                precondition(files > 0 && count("fd") <= files + 50, "\(files) files, then \(count("fd"))")
                precondition(count("task") <= threads + 50, "\(threads) threads, then \(count("task"))")
            }
        }
    #endif
}

/// Returns true if a handler is installed for the signal.
private func isCaught(_ number: Int32) -> Bool {
    var action = sigaction()
    sigaction(number, nil, &action)
    #if canImport(Darwin)
        return action.__sigaction_u.__sa_handler != nil
    #else
        return action.__sigaction_handler.sa_handler != nil
    #endif
}

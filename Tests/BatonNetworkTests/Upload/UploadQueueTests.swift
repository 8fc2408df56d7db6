import BatonTesting
import Foundation
import Testing

@testable import BatonNetwork

@Suite(.timeLimit(.minutes(5))) struct UploadQueueTests {
    private func take(_ queue: UploadQueue, _ count: Int) -> Data? {
        var data = Data(count: count)
        let piece = data.withUnsafeMutableBytes { queue.take(into: $0) }
        guard case .bytes(let taken) = piece else { return nil }
        return data.prefix(taken)
    }

    @Test("Bytes are taken in order, in pieces of any size, until none is left")
    func inOrder() async {
        let resumed = EventLog<Int>()
        let queue = UploadQueue(length: nil) { resumed.append(1) }
        #expect(take(queue, 4) == nil)
        for text in ["abc", "defgh", "i"] { #expect(await queue.put(Data(text.utf8))) }
        #expect(resumed.count == 1)
        #expect(take(queue, 2) == Data("ab".utf8))
        #expect(take(queue, 100) == Data("c".utf8))
        #expect(take(queue, 3) == Data("def".utf8))
        #expect(take(queue, 100) == Data("ghi".utf8))
        #expect(take(queue, 100) == nil)
        queue.end(.success(()))
        #expect(resumed.count == 2)
        #expect(take(queue, 100) == Data())
    }

    @Test("A task that appends too much waits until there is room or the queue is closed")
    func waiting() async {
        for isClosed in [false, true] {
            let queue = UploadQueue(length: nil) {}
            let log = EventLog<Bool>()
            let task = Task {
                log.append(await queue.put(Data(count: 100)))
                log.append(await queue.put(Data(count: 300_000)))
            }
            _ = await log.waitForCount(1)
            if isClosed {
                queue.close()
            } else {
                var count = 0
                while count < 300_100 {
                    count += take(queue, 10_000)?.count ?? 0
                    // Give the appending task a thread.
                    await Task.yield()
                }
            }
            await task.value
            #expect(log.events == [true, !isClosed])
            #expect(await queue.put(Data(count: 1)) == !isClosed)
        }
    }

    @Test("A large piece is taken in small parts without copies of the rest")
    func largePieces() async {
        func time(_ count: Int) async -> Duration {
            let queue = UploadQueue(length: nil) {}
            let task = Task { await queue.put(Data(count: count)) }
            var taken = 0
            while taken == 0 {
                taken += take(queue, 1000)?.count ?? 0
                // Give the appending task a thread.
                await Task.yield()
            }
            let duration = ContinuousClock().measure {
                while let piece = take(queue, 1000) { taken += piece.count }
            }
            #expect(taken == count)
            _ = await task.value
            return duration
        }
        // If each part copied the rest, ten times the size would take a hundred times as long. Many attempts are
        // allowed, because the machine may be busy.
        for _ in 0..<20 {
            let (small, large) = (await time(3_000_000), await time(30_000_000))
            if large < small * 40 { return }
        }
        Issue.record("ten times as much takes more than forty times as long")
    }

    private struct Failure: Error {}

    @Test("The error of a task comes after its bytes")
    func errors() async {
        let queue = UploadQueue(length: nil) {}
        _ = await queue.put(Data("a".utf8))
        queue.end(.failure(Failure()))
        #expect(take(queue, 10) == Data("a".utf8))
        var data = Data(count: 10)
        guard case .failure(let error) = data.withUnsafeMutableBytes({ queue.take(into: $0) }) else {
            Issue.record("there was no error")
            return
        }
        #expect(error is Failure)
    }

    @Test("The closing action runs once")
    func closing() {
        let log = EventLog<Int>()
        let queue = UploadQueue(length: nil) {}
        queue.onClose { log.append(1) }
        queue.close()
        queue.close()
        #expect(log.count == 1)
    }
}

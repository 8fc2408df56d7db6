// Mistakes in closures of `BatonTesting`.
// Each mistake stands in one statement and in several. "error: …" is in the message for its line.
import Baton
import BatonTesting

struct Page: Sendable {
    let title: String
    let size: Int
}

let sample = Page(title: "", size: 0)

// MARK: - Logs and schedules

func first(_ log: EventLog<String>) async {
    _ = await log.first { event in event.cuont == 1 }  // error: has no member 'cuont'
    _ = await log.first { event in
        let value = event.cuont == 1  // error: has no member 'cuont'
        return value
    }
    _ = await log.first { event in event.count == event }  // error: cannot be applied to operands
    _ = await log.first { event in
        let value = event.count == event  // error: cannot be applied to operands of type 'Int' and 'String'
        return value
    }
    _ = await log.first { a, b in true }  // error: expects 1 argument, but 2 were used
    _ = await log.first { a, b in  // error: expects 1 argument, but 2 were used
        let value = true
        return value
    }
}

func run(_ scheduler: SeededScheduler) async throws {
    _ = try await scheduler.run { scheduler in scheduler.sede }  // error: has no member 'sede'
    _ = try await scheduler.run { scheduler in
        let value = scheduler.sede  // error: has no member 'sede'
        return value
    }
    _ = try await scheduler.run { scheduler in sample.size + sample.title }  // error: cannot be applied to operands
    _ = try await scheduler.run { scheduler in
        let value = sample.size + sample.title  // error: cannot be applied to operands of type 'Int' and 'String'
        return value
    }
    _ = try await scheduler.run { a, b in sample.title }  // error: expects 1 argument, but 2 were used
    _ = try await scheduler.run { a, b in  // error: expects 1 argument, but 2 were used
        let value = sample.title
        return value
    }
}

func schedules() async throws {
    try await exploring(schedules: 10) { scheduler in print(scheduler.sede) }  // error: has no member 'sede'
    try await exploring(schedules: 10) { scheduler in
        let value = scheduler.sede  // error: has no member 'sede'
        print(value)
    }
    try await exploring(schedules: 10) { scheduler in
        print(sample.size + sample.title)  // error: cannot be applied to operands of type 'Int' and 'String'
    }
    try await exploring(schedules: 10) { scheduler in
        let value = sample.size + sample.title  // error: cannot be applied to operands of type 'Int' and 'String'
        print(value)
    }
    try await exploring(schedules: 10) { a, b in print(sample.title) }  // error: expects 1 argument, but 2 were used
    try await exploring(schedules: 10) { a, b in  // error: expects 1 argument, but 2 were used
        let value = 1
        print(value)
    }
}

func schedule() async throws {
    try await exploring(seed: 1) { scheduler in print(scheduler.sede) }  // error: has no member 'sede'
    try await exploring(seed: 1) { scheduler in
        let value = scheduler.sede  // error: has no member 'sede'
        print(value)
    }
    try await exploring(seed: 1) { scheduler in
        print(sample.size + sample.title)  // error: cannot be applied to operands of type 'Int' and 'String'
    }
    try await exploring(seed: 1) { scheduler in
        let value = sample.size + sample.title  // error: cannot be applied to operands of type 'Int' and 'String'
        print(value)
    }
    try await exploring(seed: 1) { a, b in print(sample.title) }  // error: expects 1 argument, but 2 were used
    try await exploring(seed: 1) { a, b in  // error: expects 1 argument, but 2 were used
        let value = 1
        print(value)
    }
}

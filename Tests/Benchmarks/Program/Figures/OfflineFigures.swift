/// The cost of many devices that cannot be reached, once the waits between the attempts to connect have grown.
enum OfflineFigures {
    static func measure(_ settings: RunSettings) throws -> [Figure] {
        let count = settings.pick(quick: 1_000, full: 10_000)
        return try Setup.with(settings, "offline", Setup.Setting(devices: count, kind: .offline)) { setup in
            try setup.startGateway()
            try setup.run(seconds: settings.pick(quick: 30, full: 120))
            let (before, start) = (try setup.gateway.use, Instant.steady)
            try setup.run(seconds: settings.pick(quick: 30, full: 120))
            let use = try setup.gateway.use
            let share = (use.processor - before.processor) / Instant.seconds(since: start)
            let name = settings.pick(quick: "1,000", full: "10,000")
            return [
                Figure(
                    "offline.memory", "memory with \(name) offline devices", use.memory, "MB",
                    aim: settings.pick(quick: nil, full: .atMost(200)),
                    note: "at most \(Int(use.peak)) MB, \(Int(before.memory)) MB when the measurement began"),
                Figure(
                    "offline.processor", "processor with \(name) offline devices", share * 100, "% of a core",
                    aim: settings.pick(quick: nil, full: .atMost(2)),
                    note: "\(Int(before.processor)) s of processor time until the measurement began"),
            ]
        }
    }
}

/// The gateway's use of the machine under little load.
enum FootprintFigures {
    private static let simulated = 1000

    static func measure(_ settings: RunSettings) throws -> [Figure] { try few(settings) + many(settings) }

    private static func few(_ settings: RunSettings) throws -> [Figure] {
        try Setup.with(settings, "few", Setup.Setting(age: 1000)) { setup in
            try setup.startGateway()
            let feed = try setup.feeder()
            try setup.run(seconds: 5)
            let idle = try setup.gateway.use
            try feed.pace(10)
            try setup.run(seconds: 3)
            let share = try processor(setup, seconds: settings.pick(quick: 12, full: 30))
            let use = try setup.gateway.use
            return [
                Figure(
                    "few.memory", "memory with 10 devices, 1 sample/s each", use.memory, "MB", aim: .atMost(50),
                    reach: 25, note: "idle \(Int(idle.memory)) MB, at most \(Int(use.peak)) MB"),
                Figure(
                    "few.processor", "processor with 10 devices, 1 sample/s each", share * 100, "% of a core",
                    aim: .atMost(2), reach: 0.5),
            ]
        }
    }

    private static func many(_ settings: RunSettings) throws -> [Figure] {
        try Setup.with(settings, "many", Setup.Setting(devices: simulated, kind: .simulated)) { setup in
            try setup.startGateway()
            try setup.run(seconds: settings.pick(quick: 10, full: 30))
            let (before, start) = (setup.arrivals.samples, Instant.steady)
            let share = try processor(setup, seconds: settings.pick(quick: 8, full: 30))
            let rate = Double(setup.arrivals.samples - before) / Instant.seconds(since: start)
            let use = try setup.gateway.use
            return [
                Figure(
                    "many.memory", "memory with 1,000 simulated devices, 1 sample/s each", use.memory, "MB",
                    aim: .atMost(200), reach: 100, note: "at most \(Int(use.peak)) MB"),
                Figure("many.processor", "processor with 1,000 simulated devices", share * 100, "% of a core"),
                Figure("many.rate", "samples received of 1,000 simulated devices", rate, "samples/s"),
            ]
        }
    }

    /// The share of a core that the gateway uses during the next seconds.
    private static func processor(_ setup: Setup, seconds: Double) throws -> Double {
        let (before, start) = (try setup.gateway.use.processor, Instant.steady)
        try setup.run(seconds: seconds)
        return (try setup.gateway.use.processor - before) / Instant.seconds(since: start)
    }
}

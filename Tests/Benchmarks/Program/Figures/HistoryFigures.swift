/// A first synchronisation of devices with weeks of history.
enum HistoryFigures {
    /// Samples per second until the subscriber has the last one, for comparison.
    static func rate(_ settings: RunSettings) throws -> Double {
        try read(settings) { setup in Double(setup.arrivals.received) / (try seconds(setup)) }
    }

    static func measure(_ settings: RunSettings) throws -> [Figure] {
        try read(settings) { setup in
            let total = setup.plan.historyCount * setup.plan.deviceCount
            let counts = try setup.feeder().counts
            let integrity = Integrity(
                try setup.feeder().keys(), historyCount: setup.plan.historyCount, setup.arrivals)
            let durable = Double(counts.lastAcknowledge - counts.firstRead) / 1_000_000
            let use = try setup.gateway.use
            return [
                Figure(
                    "history.rate", "history path, until the subscriber has it",
                    Double(setup.arrivals.received) / (try seconds(setup)), "samples/s", aim: .atLeast(60_000),
                    reach: 200_000,
                    note: "\(setup.arrivals.received) samples in \(setup.arrivals.messages) messages"),
                Figure(
                    "history.durable_rate", "history path, until it is durable",
                    Double(total) / durable, "samples/s"),
                Figure(
                    "history.processor", "history path: the gateway's processor time a sample",
                    use.processor * 1_000_000 / Double(total), "µs"),
                Figure("history.memory", "history path: the gateway's memory at most", use.peak, "MB"),
            ] + integrity.figures("history", "history path")
        }
    }

    /// Lets a gateway read the history of ten devices, and checks it when the subscriber has everything.
    private static func read<Result>(_ settings: RunSettings, _ check: (Setup) throws -> Result) throws -> Result {
        let count = settings.pick(quick: 20_000, full: 60_000)
        var setting = Setup.Setting()
        setting.historyCount = count
        // Three weeks, which is within the 30 days of a first synchronisation.
        setting.age = 21 * 86_400_000
        setting.step = setting.age / Int64(count)
        return try Setup.with(settings, "history", setting) { setup in
            try setup.startGateway()
            try setup.drain(count * setting.devices)
            return try check(setup)
        }
    }

    /// From the first request for history until the last sample came.
    private static func seconds(_ setup: Setup) throws -> Double {
        Double(setup.arrivals.sampleTimes.last - (try setup.feeder().counts.firstRead)) / 1_000_000
    }
}

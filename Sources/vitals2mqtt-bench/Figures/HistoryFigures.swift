/// A first synchronisation of devices with weeks of history.
enum HistoryFigures {
    /// Samples per second until the subscriber has the last one, for comparison.
    static func rate(_ settings: RunSettings) throws -> Double {
        try read(settings) { scene in Double(scene.arrivals.received) / (try seconds(scene)) }
    }

    static func measure(_ settings: RunSettings) throws -> [Figure] {
        try read(settings) { scene in
            let total = scene.plan.historyCount * scene.plan.deviceCount
            let counts = try scene.feeder().counts
            let integrity = Integrity(
                try scene.feeder().keys(), historyCount: scene.plan.historyCount, scene.arrivals)
            let durable = Double(counts.lastAcknowledge - counts.firstRead) / 1_000_000
            let use = try scene.gateway.use
            return [
                Figure(
                    "history.rate", "history path, until the subscriber has it",
                    Double(scene.arrivals.received) / (try seconds(scene)), "samples/s", aim: .atLeast(60_000),
                    reach: 200_000,
                    note: "\(scene.arrivals.received) samples in \(scene.arrivals.messages) messages"),
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
    private static func read<Result>(_ settings: RunSettings, _ check: (Scene) throws -> Result) throws -> Result {
        let count = settings.pick(quick: 20_000, full: 60_000)
        var setting = Scene.Setting()
        setting.historyCount = count
        // Three weeks, which is within the 30 days of a first synchronisation.
        setting.age = 21 * 86_400_000
        setting.step = setting.age / Int64(count)
        return try Scene.with(settings, "history", setting) { scene in
            try scene.startGateway()
            try scene.drain(count * setting.devices)
            return try check(scene)
        }
    }

    /// From the first request for history until the last sample came.
    private static func seconds(_ scene: Scene) throws -> Double {
        Double(scene.arrivals.sampleTimes.last - (try scene.feeder().counts.firstRead)) / 1_000_000
    }
}

/// A first synchronisation of devices with weeks of history.
enum HistoryFigures {
    static func measure(_ settings: RunSettings) throws -> [Figure] {
        let count = settings.pick(quick: 20_000, full: 60_000)
        var setting = Scene.Setting()
        setting.historyCount = count
        // Three weeks, which is within the 30 days of a first synchronisation.
        setting.age = 21 * 86_400_000
        setting.step = setting.age / Int64(count)
        return try Scene.with(settings, "history", setting) { scene in
            try scene.startGateway()
            let feed = try scene.feeder()
            let total = count * setting.devices
            try scene.drain(total)
            let counts = try feed.counts
            let integrity = Integrity(try feed.keys(), historyCount: count, scene.arrivals)
            let arrived = Double(scene.arrivals.sampleTimes.last - counts.firstRead) / 1_000_000
            let durable = Double(counts.lastAcknowledge - counts.firstRead) / 1_000_000
            let use = try scene.gateway.use
            return [
                Figure(
                    "history.rate", "history path, until the subscriber has it",
                    Double(scene.arrivals.received) / arrived, "samples/s", aim: .atLeast(60_000), reach: 200_000,
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
}

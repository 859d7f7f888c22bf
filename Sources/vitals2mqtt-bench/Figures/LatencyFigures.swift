/// The latency from the device to the subscriber under light load.
enum LatencyFigures {
    private static let rate = 1000.0

    static func measure(_ settings: RunSettings) throws -> [Figure] {
        try measure(settings, commitWithin: "0s", "latency", "with commit_within 0s", aims: (5, 20))
            + measure(settings, commitWithin: nil, "latency.default", "as shipped", aims: (100, 200))
    }

    private static func measure(
        _ settings: RunSettings, commitWithin: String?, _ key: String, _ title: String, aims: (Double, Double)
    ) throws -> [Figure] {
        var setting = Scene.Setting(age: 1000)
        setting.commitWithin = commitWithin
        return try Scene.with(settings, key, setting) { scene in
            try scene.startGateway()
            let feed = try scene.feeder()
            try feed.pace(rate)
            try scene.run(seconds: 2)
            scene.arrivals.measureLatency(true)
            try scene.run(seconds: settings.pick(quick: 8, full: 20))
            scene.arrivals.measureLatency(false)
            try scene.drain(try feed.stop().sent)
            let latencies = scene.arrivals.latencies
            guard !latencies.isEmpty else { throw BenchError("No sample arrived.") }
            func milliseconds(_ share: Double) -> Double {
                Double(latencies[min(latencies.count - 1, Int(Double(latencies.count) * share))]) / 1000
            }
            let integrity = Integrity(try feed.keys(), scene.arrivals)
            return [
                Figure(
                    "\(key).median", "device to subscriber at 1,000/s \(title): median", milliseconds(0.5), "ms",
                    aim: .atMost(aims.0), reach: 1),
                Figure(
                    "\(key).p99", "device to subscriber at 1,000/s \(title): 99th percentile", milliseconds(0.99), "ms",
                    aim: .atMost(aims.1), reach: 5, note: "at most \(milliseconds(1)) ms, \(latencies.count) samples"),
            ] + integrity.figures(key, "at 1,000/s \(title)")
        }
    }
}

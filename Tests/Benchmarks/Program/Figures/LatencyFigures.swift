/// The latency from the device to the subscriber under light load.
enum LatencyFigures {
    private static let rate = 1000.0

    static func measure(_ settings: RunSettings) throws -> [Figure] {
        try measure(settings, batchWindow: "0s", "latency", "with batch_window 0s", aims: (5, 20))
            + measure(settings, batchWindow: nil, "latency.default", "as shipped", aims: (100, 200))
    }

    private static func measure(
        _ settings: RunSettings, batchWindow: String?, _ key: String, _ title: String, aims: (Double, Double)
    ) throws -> [Figure] {
        var setting = Setup.Setting(age: 1000)
        setting.batchWindow = batchWindow
        return try Setup.with(settings, key, setting) { setup in
            try setup.startGateway()
            let feed = try setup.feeder()
            try feed.pace(rate)
            try setup.run(seconds: 2)
            setup.arrivals.measureLatency(true)
            try setup.run(seconds: settings.pick(quick: 8, full: 20))
            setup.arrivals.measureLatency(false)
            try setup.drain(try feed.stop().sent)
            let latencies = setup.arrivals.latencies
            guard !latencies.isEmpty else { throw BenchError("No sample arrived.") }
            func milliseconds(_ share: Double) -> Double {
                Double(latencies[min(latencies.count - 1, Int(Double(latencies.count) * share))]) / 1000
            }
            let integrity = Integrity(try feed.keys(), setup.arrivals)
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

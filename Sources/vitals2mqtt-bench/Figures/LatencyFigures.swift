/// The latency from the device to the subscriber under light load.
enum LatencyFigures {
    private static let rate = 1000.0

    static func measure(_ settings: RunSettings) throws -> [Figure] {
        try Scene.with(settings, "latency", Scene.Setting(age: 1000)) { scene in
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
                    "latency.median", "device to subscriber at 1,000/s: median", milliseconds(0.5), "ms",
                    aim: .atMost(5), reach: 1),
                Figure(
                    "latency.p99", "device to subscriber at 1,000/s: 99th percentile", milliseconds(0.99), "ms",
                    aim: .atMost(20), reach: 5, note: "at most \(milliseconds(1)) ms, \(latencies.count) samples"),
            ] + integrity.figures("latency", "at 1,000/s")
        }
    }
}

import Foundation

/// The bytes that live samples write to the disk, which wear out an SD card.
enum WearFigures {
    /// Samples a second of all devices, seconds to measure, and what each sample may cost in bytes. A stop writes a hundred
    /// kilobytes, which count: at a low rate they need time to matter as little as in real use.
    private static let rates: [(rate: Double, seconds: Double, aim: Double?)] = [
        (1, 60, nil), (4, 240, 2_000), (10, 60, nil), (200, 60, 500),
    ]
    private static let devices = 4

    static func measure(_ settings: RunSettings) throws -> [Figure] {
        try rates.flatMap { try measure($0.rate, seconds: $0.seconds, aim: $0.aim, settings) }
    }

    private static func measure(
        _ rate: Double, seconds: Double, aim: Double?, _ settings: RunSettings
    ) throws -> [Figure] {
        try Setup.with(settings, "wear-\(Int(rate))", Setup.Setting(devices: devices, age: 1000)) { setup in
            try setup.startGateway()
            let feed = try setup.feeder()
            try feed.pace(rate)
            try setup.run(seconds: 3)
            setup.arrivals.measureLatency(true)
            let (before, sent) = (try setup.gateway.use.written, try feed.counts.sent)
            try setup.run(seconds: settings.pick(quick: 20, full: seconds))
            let running = try setup.gateway.use.written - before
            let count = try feed.counts.sent - sent
            setup.arrivals.measureLatency(false)
            try setup.drain(try feed.stop().sent)
            // The journal is folded and the log is moved into the main file: both are due for these samples, too.
            let end = try setup.gateway.stopCounting()
            let total = end - before
            guard count > 0 else { throw BenchError("No sample was sent.") }
            let waits = setup.arrivals.latencies
            let median = waits.isEmpty ? 0 : Double(waits[waits.count / 2]) / 1000
            let integrity = Integrity(try feed.keys(), setup.arrivals)
            return [
                Figure(
                    "wear.\(Int(rate))", "written to disk at \(Int(rate)) samples/s", Double(total) / Double(count),
                    "bytes/sample", aim: settings.isQuick ? nil : aim.map { .atMost($0) },
                    note: "\(running / Int64(count)) before the end; write_bytes of \(count) samples; device to "
                        + "subscriber: median \(Int(median)) ms, at most \(Int(Double(waits.last ?? 0) / 1000)) ms")
            ] + integrity.figures("wear.\(Int(rate))", "at \(Int(rate))/s")
        }
    }
}

import Foundation

/// The import of a phone's export of years, beside the first synchronisation over Vitals Link in the same run.
enum ExportFigures {
    /// A row is a minute.
    private static let step: Int64 = 60_000
    /// How long a file must not change before the gateway reads it (`ExportWatch.stillness`), in seconds.
    private static let stillness = 5.0

    static func measure(_ settings: RunSettings) throws -> [Figure] {
        let count = settings.pick(quick: 200_000, full: 1_000_000)
        let link = try HistoryFigures.rate(settings)
        var setting = Setup.Setting(devices: 1)
        setting.historyCount = count
        setting.step = step
        setting.age = Int64(count) * step
        setting.kind = .exported
        return try Setup.with(settings, "export", setting) { setup in
            let idle = try idleMemory(setup)
            try ExportFile.write(setup.plan, to: setup.exportPath)
            try setup.startGateway()
            let online = setup.arrivals.onlineAt.last ?? Instant.steady
            try setup.drain(count, quiet: 120)
            let seconds = Double(setup.arrivals.sampleTimes.last - online) / 1_000_000
            let use = try setup.gateway.use
            var integrity = Integrity([], setup.arrivals)
            integrity.lost = setup.arrivals.devices.map { device in (0..<count).count { !device.has($0) } }.reduce(0, +)
            return [
                Figure(
                    "export.rate", "export, until the subscriber has it, after the file stood still",
                    Double(setup.arrivals.received) / (seconds - stillness), "samples/s", aim: .atLeast(link / 2),
                    bare: link,
                    note:
                        "\(setup.arrivals.received) samples in \(setup.arrivals.messages) messages; bare: history.rate"),
                Figure("export.time", "export, from the start until the subscriber has it", seconds, "s"),
                Figure(
                    "export.first", "export, from the start until the first sample",
                    Double(setup.arrivals.sampleTimes.first - online) / 1_000_000, "s"),
                Figure(
                    "export.processor", "export: the gateway's processor time a sample",
                    use.processor * 1_000_000 / Double(count), "µs"),
                Figure(
                    "export.memory", "export: the gateway's memory at most, above idle", use.peak - idle, "MB",
                    aim: .atMost(30), note: "idle \(Int(idle)) MB, at most \(Int(use.peak)) MB"),
            ] + integrity.figures("export", "export")
        }
    }

    /// The memory of the same gateway while it waits for the first export.
    private static func idleMemory(_ setup: Setup) throws -> Double {
        try setup.startGateway()
        try setup.run(seconds: 5)
        let idle = try setup.gateway.use.memory
        setup.gateway.stop()
        return idle
    }
}

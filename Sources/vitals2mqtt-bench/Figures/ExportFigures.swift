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
        var setting = Scene.Setting(devices: 1)
        setting.historyCount = count
        setting.step = step
        setting.age = Int64(count) * step
        setting.kind = .exported
        return try Scene.with(settings, "export", setting) { scene in
            let idle = try idleMemory(scene)
            try ExportFile.write(scene.plan, to: scene.exportPath)
            try scene.startGateway()
            let online = scene.arrivals.onlineAt.last ?? Instant.steady
            try scene.drain(count, quiet: 120)
            let seconds = Double(scene.arrivals.sampleTimes.last - online) / 1_000_000
            let use = try scene.gateway.use
            var integrity = Integrity([], scene.arrivals)
            integrity.lost = scene.arrivals.devices.map { device in (0..<count).count { !device.has($0) } }.reduce(0, +)
            return [
                Figure(
                    "export.rate", "export, until the subscriber has it, after the file stood still",
                    Double(scene.arrivals.received) / (seconds - stillness), "samples/s", aim: .atLeast(link / 2),
                    bare: link,
                    note:
                        "\(scene.arrivals.received) samples in \(scene.arrivals.messages) messages; bare: history.rate"),
                Figure("export.time", "export, from the start until the subscriber has it", seconds, "s"),
                Figure(
                    "export.first", "export, from the start until the first sample",
                    Double(scene.arrivals.sampleTimes.first - online) / 1_000_000, "s"),
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
    private static func idleMemory(_ scene: Scene) throws -> Double {
        try scene.startGateway()
        try scene.run(seconds: 5)
        let idle = try scene.gateway.use.memory
        scene.gateway.stop()
        return idle
    }
}

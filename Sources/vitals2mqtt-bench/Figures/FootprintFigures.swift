/// The gateway's use of the machine under little load.
enum FootprintFigures {
    private static let simulated = 1000

    static func measure(_ settings: RunSettings) throws -> [Figure] { try few(settings) + many(settings) }

    private static func few(_ settings: RunSettings) throws -> [Figure] {
        try Scene.with(settings, "few", Scene.Setting(age: 1000)) { scene in
            try scene.startGateway()
            let feed = try scene.feeder()
            try scene.run(seconds: 5)
            let idle = try scene.gateway.use
            try feed.pace(10)
            try scene.run(seconds: 3)
            let share = try processor(scene, seconds: settings.pick(quick: 12, full: 30))
            let use = try scene.gateway.use
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
        try Scene.with(settings, "many", Scene.Setting(devices: simulated, kind: .simulated)) { scene in
            try scene.startGateway()
            try scene.run(seconds: settings.pick(quick: 10, full: 30))
            let (before, start) = (scene.arrivals.samples, Instant.steady)
            let share = try processor(scene, seconds: settings.pick(quick: 8, full: 30))
            let rate = Double(scene.arrivals.samples - before) / Instant.seconds(since: start)
            let use = try scene.gateway.use
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
    private static func processor(_ scene: Scene, seconds: Double) throws -> Double {
        let (before, start) = (try scene.gateway.use.processor, Instant.steady)
        try scene.run(seconds: seconds)
        return (try scene.gateway.use.processor - before) / Instant.seconds(since: start)
    }
}

/// The broker is offline for a while, and comes back.
enum OutageFigures {
    private static let rate = 500.0

    static func measure(_ settings: RunSettings) throws -> [Figure] {
        let away = settings.pick(quick: 10.0, full: 30.0)
        return try Scene.with(settings, "outage", Scene.Setting(age: 1000)) { scene in
            try scene.startGateway()
            let feed = try scene.feeder()
            try feed.pace(rate)
            try scene.run(seconds: 3)
            scene.broker.stop()
            try scene.run(seconds: away)
            let connections = scene.arrivals.onlineAt.count
            let waiting = try feed.counts.sent
            try scene.broker.start()
            let back = Instant.steady
            try scene.wait(120, for: "what waited to arrive") { scene.arrivals.received >= waiting }
            let cleared = Instant.seconds(since: back)
            let online = scene.arrivals.onlineAt.dropFirst(connections).first ?? back
            try scene.run(seconds: 2)
            try scene.drain(try feed.stop().sent)
            let integrity = Integrity(try feed.keys(), scene.arrivals)
            return [
                Figure(
                    "outage.cleared", "broker offline for \(Int(away)) s at 500/s: backlog cleared in", cleared, "s",
                    aim: .atMost(2), reach: 1,
                    note: "from the broker's return; the gateway was back after "
                        + "\(Double((online - back) / 1000) / 1000) s")
            ] + integrity.figures("outage", "broker offline")
        }
    }
}

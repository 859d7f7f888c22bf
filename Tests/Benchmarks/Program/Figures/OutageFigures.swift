/// The broker is offline for a while, and comes back.
enum OutageFigures {
    private static let rate = 500.0

    static func measure(_ settings: RunSettings) throws -> [Figure] {
        let outage = settings.pick(quick: 10.0, full: 30.0)
        return try Setup.with(settings, "outage", Setup.Setting(age: 1000)) { setup in
            try setup.startGateway()
            let feed = try setup.feeder()
            try feed.pace(rate)
            try setup.run(seconds: 3)
            setup.broker.stop()
            try setup.run(seconds: outage)
            let connections = setup.arrivals.onlineAt.count
            let waiting = try feed.counts.sent
            try setup.broker.start()
            let back = Instant.steady
            try setup.wait(120, for: "what waited to arrive") { setup.arrivals.received >= waiting }
            let cleared = Instant.seconds(since: back)
            let online = setup.arrivals.onlineAt.dropFirst(connections).first ?? back
            try setup.run(seconds: 2)
            try setup.drain(try feed.stop().sent)
            let integrity = Integrity(try feed.keys(), setup.arrivals)
            return [
                Figure(
                    "outage.cleared", "broker offline for \(Int(outage)) s at 500/s: backlog cleared in", cleared, "s",
                    aim: .atMost(2), reach: 1,
                    note: "from the broker's return; the gateway was back after "
                        + "\(Double((online - back) / 1000) / 1000) s")
            ] + integrity.figures("outage", "broker offline")
        }
    }
}

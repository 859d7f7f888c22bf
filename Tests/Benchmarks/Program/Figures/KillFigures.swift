/// The gateway is killed while devices wait for answers: every answered sample must arrive.
enum KillFigures {
    private static let rate = 1000.0

    static func measure(_ settings: RunSettings) throws -> [Figure] {
        try kill(settings) + killWithoutBroker(settings)
    }

    private static func kill(_ settings: RunSettings) throws -> [Figure] {
        try Setup.with(settings, "kill", Setup.Setting(age: 1000)) { setup in
            try setup.startGateway()
            let feed = try setup.feeder()
            try feed.request(rate)
            for _ in 0..<settings.pick(quick: 2, full: 4) {
                try setup.run(seconds: 3)
                setup.gateway.kill()
                try setup.startGateway()
            }
            try setup.run(seconds: 2)
            return try end(setup, feed, "kill", "kill -9 at 1,000/s")
        }
    }

    private static func killWithoutBroker(_ settings: RunSettings) throws -> [Figure] {
        try Setup.with(settings, "kill-offline", Setup.Setting(age: 1000)) { setup in
            try setup.startGateway()
            let feed = try setup.feeder()
            try feed.request(rate)
            try setup.run(seconds: 2)
            setup.broker.stop()
            for _ in 0..<settings.pick(quick: 1, full: 3) {
                try setup.run(seconds: 3)
                setup.gateway.kill()
                try setup.gateway.start()
                try setup.waitForDevices()
            }
            try setup.run(seconds: 1)
            try setup.broker.start()
            return try end(setup, feed, "kill_offline", "kill -9 with the broker offline")
        }
    }

    private static func end(
        _ setup: Setup, _ feed: FeedProcess, _ part: String, _ title: String
    ) throws -> [Figure] {
        let counts = try feed.stop()
        // The gateway retries a broker that was offline within a minute.
        try setup.drain(counts.sent, quiet: 70)
        let integrity = Integrity(try feed.keys(), setup.arrivals)
        return [
            Figure(
                "\(part).acknowledged_lost", "\(title): acknowledged samples lost", Double(integrity.acknowledgedLost),
                "samples", aim: .atMost(0),
                note: "\(counts.acknowledged) acknowledged, \(counts.sent) sent, \(counts.refused) refused")
        ] + integrity.figures(part, title)
    }
}

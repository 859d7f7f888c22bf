/// The gateway is killed while devices wait for answers: every answered sample must arrive.
enum KillFigures {
    private static let rate = 1000.0

    static func measure(_ settings: RunSettings) throws -> [Figure] {
        try kill(settings) + killWithoutBroker(settings)
    }

    private static func kill(_ settings: RunSettings) throws -> [Figure] {
        try Scene.with(settings, "kill", Scene.Setting(age: 1000)) { scene in
            try scene.startGateway()
            let feed = try scene.feeder()
            try feed.request(rate)
            for _ in 0..<settings.pick(quick: 2, full: 4) {
                try scene.run(seconds: 3)
                scene.gateway.kill()
                try scene.startGateway()
            }
            try scene.run(seconds: 2)
            return try end(scene, feed, "kill", "kill -9 at 1,000/s")
        }
    }

    private static func killWithoutBroker(_ settings: RunSettings) throws -> [Figure] {
        try Scene.with(settings, "kill-away", Scene.Setting(age: 1000)) { scene in
            try scene.startGateway()
            let feed = try scene.feeder()
            try feed.request(rate)
            try scene.run(seconds: 2)
            scene.broker.stop()
            for _ in 0..<settings.pick(quick: 1, full: 3) {
                try scene.run(seconds: 3)
                scene.gateway.kill()
                try scene.gateway.start()
                try scene.waitForDevices()
            }
            try scene.run(seconds: 1)
            try scene.broker.start()
            return try end(scene, feed, "kill_offline", "kill -9 with the broker offline")
        }
    }

    private static func end(
        _ scene: Scene, _ feed: FeedProcess, _ part: String, _ title: String
    ) throws -> [Figure] {
        let counts = try feed.stop()
        // The gateway retries a broker that was offline within a minute.
        try scene.drain(counts.sent, quiet: 70)
        let integrity = Integrity(try feed.keys(), scene.arrivals)
        return [
            Figure(
                "\(part).acknowledged_lost", "\(title): acknowledged samples lost", Double(integrity.acknowledgedLost),
                "samples", aim: .atMost(0),
                note: "\(counts.acknowledged) acknowledged, \(counts.sent) sent, \(counts.refused) refused")
        ] + integrity.figures(part, title)
    }
}

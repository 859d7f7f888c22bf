import Foundation

/// The machine's speed without a gateway, for ratios that remain meaningful on a busy machine.
enum BareFigures {
    static func measure(_ settings: RunSettings) throws -> [Figure] {
        let seconds = settings.pick(quick: 2.0, full: 4.0)
        let folder = settings.work.appending(path: "bare")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let broker = try BrokerProcess(folder: folder)
        defer { broker.stop() }
        let arrivals = Arrivals(devices: 0, key: .init(base: 0, step: 1))
        let subscriber = try Subscriber(port: broker.port, arrivals: arrivals)
        let messages = try BarePublisher.rate(port: broker.port, seconds: seconds, arrivals: arrivals)
        subscriber.end()
        let store = try BareStore(folder: folder)
        return [
            Figure("bare.messages", "bare libmosquitto loop with subscriber", messages, "messages/s"),
            Figure(
                "bare.transactions", "bare SQLite, transactions of a row", try store.transactionRate(seconds: seconds),
                "transactions/s"),
            Figure(
                "bare.rows", "bare SQLite, transactions of 1,000 rows", try store.rowRate(seconds: seconds), "rows/s"),
            Figure(
                "bare.feeder", "the feeder alone, without a gateway", try feederRate(settings, seconds: seconds),
                "samples/s", aim: .atLeast(200_000), note: "it must not be what is measured"),
        ]
    }

    /// The feeder's rate to a peer that only counts.
    private static func feederRate(_ settings: RunSettings, seconds: Double) throws -> Double {
        let plan = FeedPlan(base: Instant.wall / 1000, step: 1, historyCount: 0, deviceCount: 10)
        let feed = try FeedProcess(plan, folder: settings.work.appending(path: "bare"))
        let peers = try feed.ports.map { try DrainingPeer(port: $0) }
        defer { for peer in peers { peer.end() } }
        try feed.flood()
        Instant.pause(seconds: 0.3)
        let before = try feed.counts.sent
        let start = Instant.steady
        Instant.pause(seconds: seconds)
        let rate = Double(try feed.counts.sent - before) / Instant.seconds(since: start)
        try feed.stop()
        return rate
    }
}

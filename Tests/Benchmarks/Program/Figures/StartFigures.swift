import Foundation
import Glibc

/// The start time of the gateway, with a new store, and with one that holds years.
enum StartFigures {
    private static let rounds = 3
    private static let devices = 10

    static func measure(_ settings: RunSettings) throws -> [Figure] {
        let count = settings.pick(quick: 1_000_000, full: 10_000_000)
        let folder = settings.cache ?? settings.work.appending(path: "store")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        let store = folder.appending(path: "samples-\(count).sqlite")
        defer { if settings.cache == nil { try? FileManager.default.removeItem(at: folder) } }
        let new = try start(settings, store: nil)
        var note = "\(count) samples"
        if access(store.path, F_OK) != 0 { note = try fill(settings, store, count: count) }
        let full = try start(settings, store: store)
        let size = try FileManager.default.attributesOfItem(atPath: store.path)[.size] as? Int64 ?? 0
        return [
            Figure("start.new.first_publish", "start to first publish, new store", new.online, "s"),
            Figure("start.new.first_sample", "start to first sample, new store", new.sample, "s"),
            Figure(
                "start.full.first_publish", "start to first publish, large store", full.online, "s",
                aim: .atMost(1), reach: 0.2, note: "\(note), \(size / 1_000_000) MB"),
            Figure(
                "start.full.first_sample", "start to first sample, large store", full.sample, "s", aim: .atMost(1),
                reach: 0.2, note: "a live sample of a device that was waiting"),
        ]
    }

    /// Fills the store through the gateway's own synchronisation. Returns a description of the result.
    private static func fill(_ settings: RunSettings, _ store: URL, count: Int) throws -> String {
        // The store is built under another name, so that an unfinished one is never used.
        let making = store.appendingPathExtension("making")
        defer { for suffix in ["", "-wal", "-shm"] { unlink(making.path + suffix) } }
        var setting = Setup.Setting(devices: devices, historyCount: count / devices, store: making)
        setting.age = 28 * 86_400_000
        setting.step = setting.age / Int64(setting.historyCount)
        let limit = settings.pick(quick: 60.0, full: 480.0)
        let received = try Setup.with(settings, "fill", setting) { setup in
            try setup.startGateway()
            let start = Instant.steady
            while setup.arrivals.samples < count, Instant.seconds(since: start) < limit {
                try setup.run(seconds: 0.5)
            }
            return setup.arrivals.samples
        }
        guard rename(making.path, store.path) == 0 else { throw BenchError.system("No store was made", errno) }
        return received < count ? "only \(received) samples in \(Int(limit)) s" : "\(count) samples"
    }

    /// The median of several starts: until `gateway/status` says online, and until a live sample arrives.
    private static func start(_ settings: RunSettings, store: URL?) throws -> (online: Double, sample: Double) {
        var (online, sample): ([Double], [Double]) = ([], [])
        for _ in 0..<rounds {
            try Setup.with(settings, "start", Setup.Setting(devices: devices, age: 1000, store: store)) { setup in
                try setup.feeder().pace(200)
                let start = try setup.gateway.start()
                try setup.wait(120, for: "the first sample") { setup.arrivals.samples > 0 }
                try setup.wait(30, for: "the first publish") { !setup.arrivals.onlineAt.isEmpty }
                online.append(Double(setup.arrivals.onlineAt[0] - start) / 1_000_000)
                sample.append(Double(setup.arrivals.sampleTimes.first - start) / 1_000_000)
                try setup.feeder().stop()
            }
        }
        return (online.sorted()[rounds / 2], sample.sorted()[rounds / 2])
    }
}

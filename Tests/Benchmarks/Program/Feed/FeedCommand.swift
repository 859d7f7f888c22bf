import ArgumentParser
import Foundation
import Glibc

/// The devices, as a separate process. Commands come on standard input, one per line: `flood`, `pace RATE`, `request
/// RATE` (samples per second of all devices together), `stop`, `counts`, `keys FILE`.
struct FeedCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "feed", abstract: "Plays wearables that speak Vitals Link over TCP.")

    @Option(help: "Devices, each on a port of its own.") var devices = 10
    @Option(help: "Records of history in each device.") var history = 0
    @Option(help: "Milliseconds between two records of history.") var step: Int64 = 1
    @Option(help: "Milliseconds since 1970 of the first record.") var base: Int64

    func run() throws {
        let plan = FeedPlan(base: base, step: step, historyCount: history, deviceCount: devices)
        let feeders = try (0..<devices).map { _ in try FeedDevice() }
        for (index, feeder) in feeders.enumerated() { feeder.start(plan, index: index) }
        say("ports " + feeders.map { "\($0.port)" }.joined(separator: " "))
        while let line = readLine() {
            let words = line.split(separator: " ")
            let rate = words.count > 1 ? Double(words[1]).map { $0 / Double(devices) } : nil
            switch (words.first, rate) {
            case ("flood", _): plan.change(to: .flood)
            case ("pace", let rate?): plan.change(to: .pace(perDevice: rate, asRequests: false))
            case ("request", let rate?): plan.change(to: .pace(perDevice: rate, asRequests: true))
            case ("stop", _): stop(plan, feeders)
            case ("counts", _): break
            case ("keys", _): try writeKeys(of: feeders, to: String(words[1]))
            default: throw ValidationError("Unknown command: \(line)")
            }
            say(counts(of: feeders))
        }
    }

    /// Waits until every device has received it, and has written what it had begun; a disconnected device has nothing to
    /// write.
    private func stop(_ plan: FeedPlan, _ feeders: [FeedDevice]) {
        plan.change(to: .idle)
        let generation = plan.current.generation
        _ = Instant.wait(upTo: 30) {
            feeders.allSatisfy { feeder in
                let counts = feeder.tally.counts
                return !counts.isConnected || (counts.generation == generation && counts.isQuiet)
            }
        }
    }

    private func counts(of feeders: [FeedDevice]) -> String {
        let all = feeders.map(\.tally.counts)
        let reads = all.map(\.firstRead).filter { $0 > 0 }
        let numbers: [Int64] = [
            Int64(all.count(where: \.isConnected)),
            all.reduce(0) { $0 + Int64($1.flooded + $1.paced.count) },
            all.reduce(0) { $0 + Int64($1.acknowledged.count) },
            all.reduce(0) { $0 + Int64($1.refused) },
            reads.min() ?? 0,
            all.map(\.lastAcknowledge).max() ?? 0,
        ]
        return "counts " + numbers.map { "\($0)" }.joined(separator: " ")
    }

    /// Writes a line for each device: the number flooded, the keys sent at a pace, and the keys answered.
    private func writeKeys(of feeders: [FeedDevice], to path: String) throws {
        let lines = feeders.map { feeder in
            let counts = feeder.tally.counts
            return [[UInt32(counts.flooded)], counts.paced, counts.acknowledged]
                .map { $0.map { "\($0)" }.joined(separator: ",") }.joined(separator: ";")
        }
        try lines.joined(separator: "\n").write(toFile: path, atomically: true, encoding: .utf8)
    }

    private func say(_ line: String) {
        print(line)
        fflush(nil)
    }
}

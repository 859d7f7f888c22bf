import GatewayKit
import GatewayTesting
import Synchronization
import TestSupport
import Vitals

/// A session with a device that sends its records in any order: live, in batches of any length, and in history pages
/// that overlap, repeat and occasionally show a record as before a correction.
final class ShuffledSession: DeviceSession {
    let description: DeviceDescription
    private let inbox = EventInbox()
    private let records: ShuffledRecords
    private let random: Mutex<SplitMix64>

    init(_ records: ShuffledRecords, now: Timestamp, random: SplitMix64) {
        self.records = records
        self.random = Mutex(random)
        let abilities = Dictionary(uniqueKeysWithValues: Metric.synchronised.map { ($0, Abilities.history) })
        description = DeviceDescription(
            identity: DeviceIdentity(manufacturer: "Simulation", model: "Shuffled"),
            capabilities: Capabilities(abilities), clock: DeviceClock(now: now, utcOffset: nil))
    }

    func nextEvents() async throws(DeviceError) -> [DeviceEvent]? { try await inbox.next() }
    func setClock(_ now: Timestamp, utcOffset: Int) async throws(DeviceError) {}

    /// Sends everything live, in random order.
    func report(_ clock: GatewayClock) async throws {
        var rest = random.withLock { records.shuffled(&$0) }[...]
        while !rest.isEmpty {
            let count = random.withLock { Int.random(in: 1...12, using: &$0) }
            await inbox.send([.samples(Array(rest.prefix(count)), receipts: [])])
            rest = rest.dropFirst(count)
            try await clock.sleep(for: .milliseconds(200))
        }
    }

    func history(_ request: HistoryRequest) async throws(DeviceError) -> HistoryPage {
        random.withLock { random in
            let all = records.versions.filter { versions in
                versions[0].metric == request.metric && request.from <= versions[0].start
                    && versions[0].start < request.to
            }.sorted { $0[0].start < $1[0].start }
            let position = request.page.flatMap { Int($0.split(separator: "/")[0]) } ?? 0
            let begin = max(0, position - Int.random(in: 0...2, using: &random))
            let end = min(all.count, position + Int.random(in: 1...8, using: &random))
            guard begin < end else { return HistoryPage(samples: []) }
            let samples = all[begin..<end].compactMap { $0.randomElement(using: &random) }.shuffled(using: &random)
            let name = "\(end)/\(random.next())"
            return HistoryPage(samples: samples, next: end < all.count ? name : nil)
        }
    }
}

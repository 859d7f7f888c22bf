import GatewayKit
import Synchronization
import TestSupport
import Vitals

@testable import Web

/// A gateway as the pages see it, whose states a test sets.
final class ShownGateway: GatewayView {
    struct State {
        var overview = GatewayOverview(
            version: "0.1.0", startedAt: Timestamp(seconds: 1_000), now: Timestamp(seconds: 2_000))
        var devices: [DeviceID: DeviceOverview] = [:]
        /// How long each part of the gateway itself has not answered.
        var waiting: [String: Duration] = [:]
        var late: [String] = []
        /// How often `set` was called.
        var changes = 0
    }
    private let state = Mutex(State())

    init(_ change: (inout State) -> Void = { _ in }) { state.withLock { change(&$0) } }

    func set(_ change: (inout State) -> Void) {
        state.withLock { state in
            state.changes += 1
            change(&state)
        }
    }

    var overview: GatewayOverview { state.withLock { $0.overview } }
    var changes: Int { state.withLock { $0.changes } }
    var devices: [DeviceID] { state.withLock { $0.devices.keys.sorted() } }
    func overview(of device: DeviceID) -> DeviceOverview { state.withLock { $0.devices[device] } ?? DeviceOverview() }
    func stuckParts(for limit: Duration) -> [String] {
        state.withLock { $0.waiting.filter { $0.value > limit }.keys.sorted() }
    }
    var late: [String] { state.withLock { $0.late } }

    /// A gateway with a device of a person, which has reported everything.
    static func withBand() throws -> ShownGateway {
        guard let band = DeviceID("band-1") else { throw Unexpected(text: "band-1") }
        let gateway = ShownGateway()
        gateway.set { state in
            state.overview.isConnected = true
            state.overview.isClockSynchronised = true
            state.overview.freeBytes = 1 << 30
            var counts = LaneCounts()
            counts.stored = 7
            state.overview.lanes = [.live: counts]
            state.overview.state = GatewayState(
                broker: GatewayState.connected, protocolVersion: "5", outbox: [.live: 3],
                oldestUnsentAt: Timestamp(milliseconds: 1_500_250), dropped: ["history": 4], quarantined: 1,
                storeBytes: 81_920, lastError: nil,
                statistics: StatisticsState(activity: .importing, due: 2, importedAt: Timestamp(seconds: 5)),
                at: Timestamp(seconds: 1_900))
            state.devices[band] = device
        }
        return gateway
    }

    private static var device: DeviceOverview {
        func latest(_ metric: Metric, _ reading: Reading, at seconds: Int64, isStale: Bool = false) -> LatestState {
            let sample = Sample(metric: metric, start: Timestamp(seconds: seconds), reading: reading)
            let stored = StoredSample(
                sample: sample, id: SampleID(high: 1, low: 2), revision: 1, receivedAt: Timestamp(seconds: seconds))
            return LatestState(stored: stored, freshUntil: nil, isStale: isStale)
        }
        var device = DeviceOverview()
        device.link = LinkState(
            phase: .waiting, since: Timestamp(seconds: 1), attempts: 3, signalStrength: -60, clockSkew: -1.5,
            lastError: "The strap of anna does not answer.")
        device.isOnline = true
        device.offlineAfter = .hours(24)
        device.sync = SyncState(
            lastSuccessAt: Timestamp(seconds: 1_800), error: "anna", skipped: ["too_many": 9])
        device.latest = [
            latest(.heartRate, .value(71), at: 1_700), latest(.battery, .value(45), at: 1_950),
            latest(.bloodPressure, .bloodPressure(BloodPressure(systolic: 120, diastolic: 80)), at: 1_600),
            latest(.temperature, .value(36.6), at: 1_000, isStale: true),
        ]
        return device
    }
}

struct Unexpected: Error { var text: String }

/// The configuration of `web:` with this address and these members; port 0 is any free one.
func webConfiguration(
    listen: String = "127.0.0.1:0", _ members: KeyValuePairs<String, ConfigurationValue> = [:]
) throws -> WebConfiguration {
    let address = ConfigurationValue(.scalar(listen, isQuoted: true))
    var reader = ConfigurationReader(
        ConfigurationValue(
            .map([(ConfigurationKey("listen"), address)] + members.map { (ConfigurationKey($0.key), $0.value) })))
    let configuration = WebConfiguration(&reader)
    let issues = reader.finish()
    guard issues.isEmpty else { throw Unexpected(text: "\(issues.map(\.message))") }
    return configuration
}

/// The port of a server, as soon as it listens.
func listeningPort(of server: WebServer) async throws -> Int {
    try await withRealDeadline(.seconds(20)) {
        while true {
            if let port = server.port { return port }
            try Task.checkCancellation()
            await Task.yield()
        }
    } orThrow: {
        Unexpected(text: "it does not listen")
    }
}

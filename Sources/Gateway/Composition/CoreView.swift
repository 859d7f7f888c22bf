import Concurrency
import Delivery
import Engines
import Foundation
import GatewayKit
import Store
import Synchronization
import Vitals
import Web

/// What the pages of the gateway's own listener show. All of it is in memory: a page costs delivery nothing.
final class CoreView: GatewayView {
    /// The parts of the gateway's own work, which a broker or a device that is away cannot hold up.
    static let ownParts: Set<LivenessPart> = [.storeWriter, .storeReader, .devices, .timers]
    /// What the newest samples are found by.
    private static let parts: [DeviceState.Part] =
        [.link, .availability, .sync] + Metric.allCases.map { .latest($0) }

    private let core: GatewayCore
    /// The folder of the store.
    private let folder: String
    private let watch = Mutex<Watchdog?>(nil)

    init(of core: GatewayCore, store: String) {
        self.core = core
        folder = URL(filePath: StorePath.resolved(store)).deletingLastPathComponent().path
    }

    /// Asks this watch for the parts that do not answer, from now on.
    func follow(_ watch: Watchdog) { self.watch.withLock { $0 = watch } }

    var overview: GatewayOverview {
        let clock = ClockState.current(core.settings.clock)
        var overview = GatewayOverview(
            version: core.settings.version, startedAt: core.startedAt, now: clock.now)
        overview.isClockSynchronised = clock.isSynchronised
        let version = core.status.snapshot.version
        overview.state = core.reported.withLock { $0.state }
        // The newest report may be from before the connection.
        overview.state?.describe(version)
        overview.isConnected = version != nil
        overview.lanes = core.outbox.counts
        overview.inFlight = core.outbox.inFlight
        overview.isConfigurationRefused = core.refusedReload.withLock { $0 != nil }
        overview.freeBytes = DiskSpace(of: folder)?.bytes
        return overview
    }

    var changes: Int { core.retained.changes }

    var devices: [DeviceID] { core.retained.devices }

    func overview(of device: DeviceID) -> DeviceOverview {
        var overview = DeviceOverview()
        overview.offlineAfter = core.offlineAfter.withLock { $0[device] }
        for state in core.retained.states(of: device, Self.parts) {
            switch state {
            case .link(let link): overview.link = link
            case .availability(let isOnline): overview.isOnline = isOnline
            case .sync(let sync): overview.sync = sync
            case .latest(let latest): overview.latest.append(latest)
            default: continue
            }
        }
        return overview
    }

    func stuckParts(for limit: Duration) -> [String] {
        guard let watch = watch.withLock({ $0 }) else { return [] }
        guard let waiting = watch.waiting(longerThan: limit) else { return ["watchdog"] }
        return waiting.filter { Self.ownParts.contains($0) }.map(\.name)
    }

    var late: [String] {
        var late = core.reported.withLock { $0.late.map(\.name) }
        if core.hasBegun.value == nil { late.append("start") }
        if !core.status.snapshot.isConnected { late.append("broker") }
        if core.own.isEchoMissing { late.append("broker.access") }
        for device in devices {
            guard case .availability(isOnline: false)? = core.retained.states(of: device, [.availability]).first
            else { continue }
            let name = LivenessPart.device(device).name
            if !late.contains(name) { late.append(name) }
        }
        return late
    }
}

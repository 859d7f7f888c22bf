import Contract
import Engines
import GatewayKit
import Logging
import Synchronization
import Vitals

extension GatewayCore {
    func publishInfo() async {
        board.put(
            .gatewayInfo(
                GatewayInfo(
                    version: settings.version, store: store.identity, startedAt: startedAt,
                    plugins: await fleet.plugins, devices: await fleet.ids)))
    }

    /// Publishes how the gateway is doing, where it changed, every ten seconds at most.
    func reportState() async {
        var last: GatewayState?
        while !Task.isCancelled {
            do throws(StoreError) {
                let statistics = try await store.statistics()
                var state = GatewayState(
                    broker: status.snapshot.isConnected ? GatewayState.connected : nil, outbox: statistics.pending,
                    oldestUnsentAt: statistics.oldestPendingAt, dropped: statistics.dropped,
                    storeBytes: statistics.bytes,
                    lastError: statistics.lastError ?? refusedReload.withLock { $0 } ?? status.snapshot.lastError,
                    at: last?.at ?? settings.clock.now)
                if status.snapshot.dropped > 0 { state.dropped["refused"] = status.snapshot.dropped }
                if state != last {
                    state.at = settings.clock.now
                    last = state
                    board.put(.gatewayState(state))
                }
            } catch {
                settings.logger.error("The store cannot be read.", metadata: ["error": "\(error)"])
            }
            do { try await settings.clock.sleep(for: Self.stateInterval) } catch { return }
        }
    }

    func cleanStore() async {
        var date = SteadyDate()
        while !Task.isCancelled {
            let byAge = date.isTrusted(at: settings.clock.now, uptime: settings.clock.uptime)
            do throws(StoreError) {
                while try await store.clean(at: settings.clock.now, byAge: byAge) { if Task.isCancelled { return } }
                try await forgetDeparted()
            } catch {
                settings.logger.error("The store cannot be cleaned.", metadata: ["error": "\(error)"])
            }
            do { try await settings.clock.sleep(for: Self.cleanInterval) } catch { return }
        }
    }

    /// Forgets the devices that the store knows and nobody configures any more.
    func forgetRemoved(keeping setups: [DeviceSetup]) async {
        let wanted = Set(setups.map(\.info.id))
        do throws(StoreError) {
            for device in try await store.knownDevices() where !wanted.contains(device) { await forget(device) }
        } catch {
            settings.logger.error("The devices of before cannot be read.", metadata: ["error": "\(error)"])
        }
    }

    /// Empties a removed device's topics, and then forgets its state. Its samples stay until their retention ends.
    ///
    /// It stays known until its topics were certainly emptied: whatever crashes before, the next start does it again.
    func forget(_ device: DeviceID) async {
        board.forget(device)
        discovery.removed(device, topics: wire.removal(of: device).map(\.topic))
        departing.withLock { $0[device] = 0 }
    }

    /// Forgets removed devices. One is ready when the broker was connected at two looks since, a minute from each other:
    /// a connection that takes nothing is given up earlier.
    private func forgetDeparted() async throws(StoreError) {
        let isConnected = status.snapshot.isConnected
        let ready = departing.withLock { departing in
            for device in departing.keys { departing[device] = isConnected ? (departing[device] ?? 0) + 1 : 0 }
            return departing.filter { $0.value >= Self.looksBeforeForgetting }.keys.sorted()
        }
        for device in ready {
            try await store.forget(device)
            departing.withLock { $0[device] = nil }
        }
    }

    /// A removed device that comes back begins anew.
    func forget(returning devices: [DeviceID]) async throws(StoreError) {
        for device in devices where departing.withLock({ $0[device] != nil }) {
            try await store.forget(device)
            departing.withLock { $0[device] = nil }
        }
    }
}

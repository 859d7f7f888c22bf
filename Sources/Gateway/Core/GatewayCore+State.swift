import Concurrency
import Contract
import Delivery
import Engines
import GatewayKit
import Logging
import MQTT
import Synchronization
package import Vitals

extension GatewayCore {
    func publishInfo() async {
        retained.put(
            .gatewayInfo(
                GatewayInfo(
                    version: settings.version, store: store.identity, startedAt: startedAt,
                    plugins: await supervisor.plugins, devices: await supervisor.ids)))
    }

    /// Publishes the gateway's state when it changes, at most every ten seconds, and stores what a full disk refused.
    func reportState() async {
        defer { reporting.step(nextBy: nil) }
        while !Task.isCancelled {
            reporting.step(nextBy: settings.clock.uptime)
            await commandLog.storeUnstored()
            do throws(StoreError) {
                let statistics = try await store.statistics()
                await stateReportMutex.withLock { report(statistics) }
            } catch {
                settings.logger.error("The store cannot be read.", metadata: ["error": "\(error)"])
            }
            reporting.step(nextBy: settings.clock.uptime + Self.stateInterval)
            do { try await settings.clock.sleep(for: Self.stateInterval) } catch { return }
        }
    }

    private func report(_ statistics: StoreStatistics) {
        let (last, late) = reported.withLock { $0 }
        var state = GatewayState(
            broker: nil, outbox: statistics.pending, oldestUnsentAt: statistics.oldestPendingAt,
            dropped: statistics.dropped, quarantined: statistics.quarantined, storeBytes: statistics.bytes,
            lastError: statistics.lastError ?? refusedReload.withLock { $0 } ?? status.snapshot.lastError,
            late: late, statistics: self.statistics.withLock { $0 }, at: last?.at ?? settings.clock.now)
        state.describe(status.snapshot.version)
        if status.snapshot.dropped > 0 { state.dropped["refused"] = status.snapshot.dropped }
        guard state != last else { return }
        state.at = settings.clock.now
        publish(state)
    }

    private func publish(_ state: GatewayState) {
        reported.withLock { $0.state = state }
        retained.put(.gatewayState(state))
    }

    /// Takes the parts that are late, from any thread, for `gateway/state`.
    package func parts(late: [LivenessPart]) {
        // The gateway's own parts come first.
        let named = late.filter { !$0.isOptional } + late.filter(\.isOptional)
        reported.withLock { $0.late = Array(named.prefix(Self.maximumLate)) }
        latePartsChanged.wake()
    }

    /// Keeps the state of the import of statistics for the next `gateway/state`. Any thread may call it.
    package func imports(_ statistics: StatisticsState) { self.statistics.withLock { $0 = statistics } }

    /// Publishes at once which parts are late. The rest of the state stays as it was: the store may be what is late.
    func reportLate() async {
        while !Task.isCancelled {
            await latePartsChanged.wait()
            publishStatus()
            await stateReportMutex.withLock {
                let (last, late) = reported.withLock { $0 }
                guard var state = last, state.late != late else { return }
                state.late = late
                // The last report may be from before the connection.
                state.describe(status.snapshot.version)
                state.at = settings.clock.now
                publish(state)
            }
        }
    }

    /// Publishes whether every part of the gateway itself answers. After a stop it publishes nothing: the graceful disconnect is the last status.
    private func publishStatus() {
        let isWell = reported.withLock { $0.late.allSatisfy(\.isOptional) }
        guard status.change(isWell: isWell), stopping.value == nil else { return }
        retained.put(.message(codec.status(isOnline: isWell)))
    }

    func cleanStore() async {
        var date = SteadyDate()
        defer { cleaning.step(nextBy: nil) }
        while !Task.isCancelled {
            cleaning.step(nextBy: settings.clock.uptime)
            let byAge = date.isTrusted(at: settings.clock.now, uptime: settings.clock.uptime)
            do throws(StoreError) {
                while try await store.clean(at: settings.clock.now, byAge: byAge) {
                    if Task.isCancelled { return }
                    cleaning.step(nextBy: settings.clock.uptime)
                }
                try await forgetDeparted()
            } catch {
                settings.logger.error("The store cannot be cleaned.", metadata: ["error": "\(error)"])
            }
            cleaning.step(nextBy: settings.clock.uptime + Self.cleanInterval)
            do { try await settings.clock.sleep(for: Self.cleanInterval) } catch { return }
        }
    }

    /// Forgets the devices that are in the store but no longer in the configuration.
    func forgetRemoved(keeping setups: [DeviceSetup]) async {
        let wanted = Set(setups.map(\.info.id))
        do throws(StoreError) {
            for device in try await store.knownDevices() where !wanted.contains(device) { await forget(device) }
        } catch {
            settings.logger.error("The devices of the previous run cannot be read.", metadata: ["error": "\(error)"])
        }
    }

    /// Empties a removed device's topics, and then forgets its state. Its samples stay until their retention ends.
    ///
    /// It stays known until its topics are certainly empty: after a crash the next start repeats the work.
    func forget(_ device: DeviceID) async {
        retained.forget(device)
        discovery.removed(device, topics: codec.removal(of: device).map(\.topic))
        removedDevices.withLock { $0[device] = 0 }
    }

    /// Forgets a removed device that has ended later than its reload, unless it has come back.
    func forgetLate(_ device: DeviceID) async {
        // Where the gateway stops first, the next start does it.
        try? await reloading.withCancellableLock {
            guard await supervisor[device] == nil else { return }
            await forget(device)
            await publishInfo()
        }
    }

    /// Forgets removed devices. A device is ready when two checks, a minute apart, found the broker connected: a
    /// connection that accepts nothing is closed earlier.
    func forgetDeparted() async throws(StoreError) {
        let isConnected = status.snapshot.isConnected
        let ready = removedDevices.withLock { checks in
            for device in checks.keys { checks[device] = isConnected ? (checks[device] ?? 0) + 1 : 0 }
            return checks.filter { $0.value >= Self.checksBeforeForgetting }.keys.sorted()
        }
        // A reload may bring a device back, which then has a new state that must stay. One that waits for a device to end may take
        // for ever: then this waits for the next check, and the rest of the cleaning does not wait at all.
        for device in ready {
            try await reloading.withLockIfFree { () throws(StoreError) in
                _ = try await forget(ifRemoved: device)
            }
        }
    }

    /// Forgets the removed ones of devices that are served again, which start anew. Returns them.
    func forget(returning devices: [DeviceID]) async throws(StoreError) -> [DeviceID] {
        var returning: [DeviceID] = []
        for device in devices {
            if try await forget(ifRemoved: device) { returning.append(device) }
        }
        return returning
    }

    private func forget(ifRemoved device: DeviceID) async throws(StoreError) -> Bool {
        guard removedDevices.withLock({ $0[device] != nil }) else { return false }
        try await forgetStored(device)
        removedDevices.withLock { $0[device] = nil }
        return true
    }

    /// Empties the topics that another store left at the broker, of devices that are not configured.
    func emptyFound() async {
        while !Task.isCancelled {
            let found = await own.found()
            // Home Assistant releases their entities first, with the announcements: it would log empty states.
            do { try await settings.clock.sleep(for: Self.foundSettling) } catch { return }
            try? await reloading.withCancellableLock {
                for device in found {
                    // This store empties those of a device that it knows.
                    guard await supervisor[device] == nil, removedDevices.withLock({ $0[device] == nil }) else {
                        continue
                    }
                    // Until the last one is empty, which is `info`, the device is found again.
                    for message in codec.removal(of: device).reversed() { retained.put(.stale(topic: message.topic)) }
                    settings.logger.notice(
                        "Another store left a device at the broker that is not configured; its retained topics are emptied.",
                        metadata: ["device.id": "\(device)"])
                }
            }
        }
    }

    /// Empties the topics of a device that comes back, before it says anything: it may publish fewer than before.
    func emptyTopics(of device: DeviceID) {
        for message in codec.removal(of: device) { retained.put(.stale(topic: message.topic)) }
    }

    private func forgetStored(_ device: DeviceID) async throws(StoreError) {
        try await store.forget(device)
        await commandLog.forget(device)
    }

    /// Starts a removed device anew that came back before it had ended.
    func forgetReturned(_ device: DeviceID) async {
        do throws(StoreError) { try await forgetStored(device) } catch {
            settings.logger.error("A device that came back keeps its state.", metadata: ["error": "\(error)"])
        }
        retained.forget(device)
        emptyTopics(of: device)
    }
}

import Engines
import GatewayKit
import Logging
import Vitals

extension GatewayCore {
    func publishInfo() async {
        let devices = await fleet.ids
        board.put(
            .gatewayInfo(
                GatewayInfo(
                    version: settings.version, store: store.identity, startedAt: startedAt, plugins: plugins,
                    devices: devices)))
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
                    storeBytes: statistics.bytes, lastError: statistics.lastError ?? status.snapshot.lastError,
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
        while !Task.isCancelled {
            do throws(StoreError) {
                while try await store.clean(at: settings.clock.now) { if Task.isCancelled { return } }
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

    /// Empties a removed device's topics, and forgets its state. Its samples stay until their retention ends.
    func forget(_ device: DeviceID) async {
        let messages = wire.removal(of: device)
        board.forget(device)
        discovery.removed(device)
        for message in messages { board.put(.message(message)) }
        do throws(StoreError) { try await store.forget(device) } catch {
            settings.logger.error("A removed device cannot be forgotten.", metadata: ["error": "\(error)"])
        }
    }
}

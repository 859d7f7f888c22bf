import Concurrency
import GatewayKit
import Logging
import Vitals

/// The handling of BlueZ's signals.
extension Radio {
    /// Properties that BlueZ changes when it hears a device.
    private static let advertised: Set = [
        "RSSI", "TxPower", "ManufacturerData", "ServiceData", "AdvertisingData", "AdvertisingFlags",
    ]

    func ownerChanged(_ signal: Bus.Message) {
        guard signal.arguments.count == 3, let new = signal.arguments[2].text else { return }
        if owner != nil, new != owner {
            logger.warning("BlueZ has ended.")
            vanished("BlueZ has ended. The device is connected again when bluetoothd runs.")
        }
        if !new.isEmpty { appeared(new) }
    }

    func objects(_ signal: Bus.Message) {
        guard signal.arguments.count == 2, let path = signal.arguments[0].text else { return }
        switch signal.member {
        case "InterfacesAdded":
            tree.add(path, signal.arguments[1])
            let added = signal.arguments[1].members
            if added[BlueZ.device]?.members["RSSI"] != nil { markSeen(path) }
            if added[BlueZ.adapter] != nil {
                logger.info("An adapter is there.", metadata: ["adapter": "\(path)"])
                settle()
            }
            checkResolved(path)
        case "InterfacesRemoved":
            let removed = signal.arguments[1].elements.compactMap(\.text)
            tree.remove(path, removed)
            if removed.contains(BlueZ.device) {
                if let traffic = links[path] {
                    end(traffic, LinkError(.broken, "The device has gone from the adapter."))
                }
            }
            if removed.contains(BlueZ.adapter) { adapterRemoved(path) }
        default: break
        }
    }

    private func adapterRemoved(_ path: String) {
        logger.warning("An adapter is gone.", metadata: ["adapter": "\(path)"])
        for (device, traffic) in links where device.hasPrefix(path + "/") {
            end(traffic, LinkError(.broken, "The Bluetooth adapter was removed. Plug it in again."))
        }
        if let adapter = adapters[path] { abandon(adapter) }
        settle()
    }

    func properties(_ signal: Bus.Message) {
        guard signal.arguments.count == 3, let interface = signal.arguments[0].text else { return }
        let (path, changed) = (signal.path, signal.arguments[1].members)
        tree.change(path, interface, changed, without: signal.arguments[2].elements.compactMap(\.text))
        switch interface {
        case BlueZ.characteristic:
            if let bytes = changed["Value"]?.data { value(bytes, path) }
        case BlueZ.battery:
            if let percent = changed["Percentage"]?.number { value([UInt8(clamping: percent)], path) }
        case BlueZ.device:
            if !Self.advertised.isDisjoint(with: changed.keys) { markSeen(path) }
            if let isConnected = changed["Connected"]?.flag { connection(of: path, is: isConnected) }
            checkResolved(path)
        case BlueZ.adapter:
            if changed["Powered"] != nil || changed["Discovering"] != nil { settle() }
        default: break
        }
    }

    private func value(_ bytes: [UInt8], _ path: String) {
        guard let traffic = links.first(where: { path == $0.key || path.hasPrefix($0.key + "/") })?.value else {
            return
        }
        traffic.lastActivity = clock.uptime
        let flags = tree[path, BlueZ.characteristic]?["Flags"]?.elements ?? []
        traffic.received(bytes, from: path, isIndicated: flags.contains { $0.text == "indicate" })
    }

    private func connection(of path: String, is isConnected: Bool) {
        guard let traffic = links[path] else { return }
        if isConnected {
            traffic.wasConnected = true
        } else if traffic.wasConnected {
            end(
                traffic,
                LinkError(
                    .broken,
                    "The device ended the connection, or it went out of reach. It is connected again when it advertises."
                ))
        }
    }

    /// The reason of a disconnection, which only newer versions of BlueZ report.
    func disconnected(_ signal: Bus.Message) {
        guard let reason = signal.arguments.first?.text else { return }
        logger.debug("A device is disconnected.", metadata: ["object": "\(signal.path)", "reason": "\(reason)"])
    }

    private func checkResolved(_ path: String) {
        guard tree[path, BlueZ.device]?["ServicesResolved"]?.flag == true else { return }
        links[path]?.link.resolved.fulfil(())
    }

    /// A device has advertised.
    private func markSeen(_ path: String) {
        let now = clock.uptime
        if let adapter = tree.adapter(of: path) { adapters[adapter]?.scan.markSeen(at: now) }
        scansHeard(path)
        for (id, device) in expected
        where tree.isDevice(path, device.target) && tree.adapter(of: path) == adapterPath(of: device.target) {
            if isResting(id, on: tree.adapter(of: path), at: now) { continue }
            expected[id]?.heard = (path, now)
            switch device.state {
            case .waiting(let promise):
                expected[id]?.state = .settled
                promise.fulfil(.success(path))
                change.wake()
            case .paused: device.presence.sawDevice()
            case .settled: break
            }
        }
    }
}

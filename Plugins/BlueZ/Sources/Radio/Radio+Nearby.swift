import Concurrency
import GatewayKit
import Vitals

/// Scans for people who search for a device. They share the adapters' scan with the gateway's devices.
extension Radio {
    /// Returns what the adapters hear within `duration` from the moment when they listen, and what is connected.
    func nearby(for duration: Duration) async throws(LinkError) -> [NearbyDevice] {
        if let trouble = trouble(adapter: options.adapter) { throw trouble }
        let scan = NearbyScan(adapters: scanAdapters)
        scanNumber += 1
        let number = scanNumber
        scans[number] = scan
        defer {
            scans[number] = nil
            change.wake()
        }
        change.wake()
        settle()
        try await start(of: scan)
        for path in scan.adapters where isListening(path) { noteKnown(on: path, scan) }
        do { try await clock.sleep(for: duration) } catch {
            throw LinkError(.cancelled, "The scan was cancelled.")
        }
        if owner == nil { throw .noBlueZ }
        guard scan.adapters.contains(where: { tree[$0, BlueZ.adapter] != nil }) else { throw .adapterGone }
        return result(of: scan)
    }

    /// Waits until an adapter listens.
    private func start(of scan: NearbyScan) async throws(LinkError) {
        let begin = clock.uptime
        while true {
            let began = scan.began
            let result = await clock.withTimeout(NearbyScan.startTime) { try? await began.wait() }
            if case .some(.some(let result)) = result { return try result.get() }
            if Task.isCancelled { throw LinkError(.cancelled, "The scan was cancelled.") }
            let isBusy = scan.adapters.contains { adapters[$0]?.connecting ?? 0 > 0 }
            guard isBusy, clock.uptime - begin < NearbyScan.longestStart else {
                let failures = scan.adapters.sorted().compactMap { adapters[$0]?.scanFailure }
                throw failures.first
                    ?? LinkError(
                        .timeout,
                        isBusy
                            ? "The Bluetooth adapter connects devices all the time. Try again later."
                            : "The Bluetooth adapter does not begin to scan. Restart BlueZ: systemctl restart bluetooth."
                    )
            }
        }
    }

    /// The adapter of the plugin, and those of its devices.
    private var scanAdapters: Set<String> {
        var paths = Set(expected.values.compactMap { adapterPath(of: $0.target) })
        if let own = tree.adapter(options.adapter) { paths.insert(own) }
        return paths
    }

    /// Whether an adapter scans for the gateway.
    private func isListening(_ path: String) -> Bool {
        adapters[path]?.scan.isOurs == true && tree[path, BlueZ.adapter]?["Discovering"]?.flag == true
    }

    /// Whether an adapter does not scan soon.
    private func isUnable(_ path: String) -> Bool {
        guard let adapter = adapters[path], tree[path, BlueZ.adapter] != nil else { return true }
        return adapter.connecting > 0 || trouble(at: path) != nil || adapter.scanFailure != nil
    }

    /// Checks whether the scans have begun, or cannot.
    func settleScans() {
        for scan in scans.values {
            // One that connects a device or fails is not waited for where another one listens.
            let others = scan.adapters.filter { !isListening($0) }
            if others.count < scan.adapters.count, others.allSatisfy(isUnable) {
                scan.began.fulfil(.success(()))
            } else if owner == nil {
                scan.began.fulfil(.failure(.noBlueZ))
            } else {
                let troubles = scan.adapters.sorted().map { trouble(at: $0) }
                if let first = troubles.first, let reason = first, !troubles.contains(nil) {
                    scan.began.fulfil(.failure(reason))
                }
            }
        }
    }

    /// A device was heard.
    func scansHeard(_ path: String) {
        guard !scans.isEmpty, let adapter = tree.adapter(of: path), let device = nearby(path, on: adapter) else {
            return
        }
        for scan in scans.values where scan.adapters.contains(adapter) && scan.began.value != nil {
            scan.add(device, path)
        }
    }

    /// What the adapter has heard lately: BlueZ keeps the strength of a signal as long as it hears the device.
    private func noteKnown(on adapter: String, _ scan: NearbyScan) {
        for path in tree.paths(with: BlueZ.device) where tree.adapter(of: path) == adapter {
            guard let device = nearby(path, on: adapter), device.signalStrength != nil || device.isConnected else {
                continue
            }
            scan.add(device, path)
        }
    }

    private func result(of scan: NearbyScan) -> [NearbyDevice] {
        // Names and services may have come after the last signal, and devices may have connected.
        for adapter in scan.adapters {
            for path in tree.paths(with: BlueZ.device) where tree.adapter(of: path) == adapter {
                guard let device = nearby(path, on: adapter), device.isConnected || scan.devices[path] != nil else {
                    continue
                }
                scan.add(device, path)
            }
        }
        // A device that several adapters hear counts once, with the strongest signal.
        var found: [String: NearbyDevice] = [:]
        for device in scan.devices.sorted(by: { $0.key < $1.key }).map(\.value) {
            if let known = found[device.address], (known.signalStrength ?? .min) >= (device.signalStrength ?? .min) {
                continue
            }
            found[device.address] = device
        }
        return Array(found.values)
    }

    private func nearby(_ path: String, on adapter: String) -> NearbyDevice? {
        let isOwn = adapter == tree.adapter(options.adapter)
        var device = tree.nearby(path, adapter: isOwn ? nil : adapter.split(separator: "/").last.map(String.init))
        device?.device =
            expected.filter { tree.isDevice(path, $0.value.target) && adapterPath(of: $0.value.target) == adapter }
            .keys.min()
        return device
    }
}

/// A scan for people: what adapters hear until its end. It belongs to the radio.
final class NearbyScan {
    /// The most devices that a scan keeps. In a crowd each telephone changes its address now and then.
    static let capacity = 1_024
    /// How long the adapters may take to begin, unless they connect a device.
    static let startTime: Duration = .seconds(15)
    /// How long the adapters may take to begin in any case: the time of two attempts to connect.
    static let longestStart: Duration = .seconds(90)

    /// The adapters that listen for it, by object.
    let adapters: Set<String>
    /// An adapter listens, or none can.
    let began = Promise<Result<Void, LinkError>>()
    /// The last advertisement of each device, by object.
    private(set) var devices: [String: NearbyDevice] = [:]

    init(adapters: Set<String>) { self.adapters = adapters }

    /// A device was heard, or is known to be near.
    func add(_ device: NearbyDevice, _ path: String) {
        guard devices[path] != nil || devices.count < Self.capacity else { return }
        var device = device
        // The strength is forgotten while the adapter connects.
        device.signalStrength = device.signalStrength ?? devices[path]?.signalStrength
        devices[path] = device
    }
}

import Concurrency
import GatewayKit
import Vitals

/// Waiting for devices, and for links.
extension Radio {
    /// The adapter that a device is connected with; `nil` if it is not there.
    func adapterPath(of target: DeviceTarget) -> String? { tree.adapter(target.adapter ?? options.adapter) }

    /// Why a device cannot be waited for; `nil` if it can.
    func trouble(for target: DeviceTarget) -> LinkError? { trouble(adapter: target.adapter ?? options.adapter) }

    /// Why an adapter cannot be used; `nil` if it can. Without a name it is the first one.
    func trouble(adapter: String?) -> LinkError? {
        guard owner != nil else { return .noBlueZ }
        if let refusal { return refusal.error }
        guard let path = tree.adapter(adapter) else {
            let name = adapter.map { " \($0)" } ?? ""
            return LinkError(
                .unreachable,
                "There is no Bluetooth adapter\(name). Plug it in; bluetoothctl list shows those that are there.")
        }
        return trouble(at: path)
    }

    /// Why the adapter with this object cannot be used; `nil` if it can. It may have been switched on while no device needed it.
    func trouble(at path: String) -> LinkError? {
        tree[path, BlueZ.adapter]?["Powered"]?.flag == true ? nil : adapters[path]?.trouble
    }

    /// Waits until the device is in reach: it advertises, or is connected already. Returns its object.
    func reach(
        _ id: DeviceID, _ target: DeviceTarget, presence: DevicePresence
    ) async throws(LinkError) -> String {
        if let due = expected[id]?.dueAt, due > clock.uptime {
            expected[id]?.state = .settled
            change.wake()
            do { try await clock.sleep(for: due - clock.uptime) } catch {
                // A new connection is wanted, or other settings are to hold, or the device is no longer configured.
                leave(id)
                throw .notWaiting(for: target)
            }
        }
        let now = clock.uptime
        var device = expected[id] ?? ExpectedDevice(target: target, presence: presence, state: .settled)
        // What was heard counts also with changed options, if it is the device: `reached` asks that.
        if device.target.adapter != target.adapter { device.heard = nil }
        (device.target, device.presence, device.state) = (target, presence, .settled)
        defer { change.wake() }
        if let trouble = trouble(for: target) {
            device.state = .paused(until: now + ExpectedDevice.memory)
            expected[id] = device
            throw trouble
        }
        expected[id] = device
        if let path = reached(device, at: now) { return path }
        let promise = Promise<Result<String, LinkError>>()
        expected[id]?.state = .waiting(promise)
        change.wake()
        let result: Result<String, LinkError>
        do { result = try await promise.wait() } catch {
            leave(id)
            throw .notWaiting(for: target)
        }
        return try result.get()
    }

    /// The object of a device that advertised just now or is connected, for example by a gateway that was killed.
    private func reached(_ device: ExpectedDevice, at now: Duration) -> String? {
        if let heard = device.heard, now - heard.at <= ExpectedDevice.freshness,
            tree.isDevice(heard.path, device.target)
        {
            return heard.path
        }
        let adapter = adapterPath(of: device.target)
        return tree.paths(with: BlueZ.device).first { path in
            tree.isDevice(path, device.target) && tree.adapter(of: path) == adapter
                && tree[path, BlueZ.device]?["Connected"]?.flag == true && links[path] == nil
        }
    }

    /// The gateway has left the device, and will come back.
    func leave(_ id: DeviceID, dueAt: Duration = .zero) {
        expected[id]?.state = .paused(until: max(clock.uptime, dueAt) + ExpectedDevice.memory)
        expected[id]?.heard = nil
        expected[id]?.dueAt = dueAt
        change.wake()
    }

    /// A device could not be connected. While it was tried the adapter did not listen; now it listens for others as long.
    func rest(_ id: DeviceID, since begin: Duration) {
        let now = clock.uptime
        expected[id]?.restsUntil = now + min(now - begin, ExpectedDevice.longestRest)
    }

    /// Whether a device has to leave the adapter to others that are listened for.
    func isResting(_ id: DeviceID, on adapter: String?, at now: Duration) -> Bool {
        guard let rest = expected[id]?.restsUntil, now < rest else { return false }
        return expected.contains { other, device in
            other != id && device.isListenedFor(at: now) && adapterPath(of: device.target) == adapter
        }
    }

    /// Waits for a link of the adapter of a device.
    func takeTurn(_ holder: LinkTurns.Holder, of path: String) async throws(LinkError) -> Adapter.Place {
        guard let object = tree.adapter(of: path) else { throw .adapterGone }
        let adapter = adapter(at: object)
        if adapter.turns.request(holder) { return Adapter.Place(path: object) }
        let promise = Promise<Void>()
        adapter.waiting[holder] = promise
        change.wake()
        let isCancelled: Bool
        do {
            try await promise.wait()
            isCancelled = false
        } catch { isCancelled = true }
        adapter.waiting[holder] = nil
        if isCancelled {
            release(holder, of: adapter)
            throw LinkError(.cancelled, "The gateway no longer waits for a link.")
        }
        // The adapter was removed meanwhile.
        guard adapters[object] === adapter else { throw .adapterGone }
        return Adapter.Place(path: object)
    }

    /// Gives back a link.
    func release(_ holder: LinkTurns.Holder, at place: Adapter.Place) {
        if let adapter = adapters[place.path] { release(holder, of: adapter) }
    }

    private func release(_ holder: LinkTurns.Holder, of adapter: Adapter) {
        for next in adapter.turns.release(holder) { adapter.waiting[next]?.fulfil(()) }
        change.wake()
    }
}

extension Adapter {
    /// A place for a link on an adapter, which must be released.
    struct Place: Sendable { let path: String }
}

extension LinkError {
    static func notWaiting(for target: DeviceTarget) -> LinkError {
        LinkError(.cancelled, "The gateway no longer waits for the device \(target.selector).")
    }

    static let noBlueZ = LinkError(.unreachable, "BlueZ does not run. Start it: systemctl start bluetooth.")

    static let adapterGone = LinkError(.unreachable, "The Bluetooth adapter was removed. Plug it in again.")
}

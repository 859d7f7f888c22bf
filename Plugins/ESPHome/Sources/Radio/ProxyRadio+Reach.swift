import Concurrency
import GatewayKit
import Vitals

/// What proxies hear, and waiting for devices and for connections.
extension ProxyRadio {
    /// How long several proxies have to hear a device before one of them is chosen.
    static let choiceTime: Duration = .milliseconds(500)
    /// How long a proxy may take to free a connection that has ended.
    static let freeTime: Duration = .seconds(20)

    /// A place for a link on a proxy, which must be released.
    struct Place: Sendable {
        var proxy: Int
        var address: UInt64
        var addressType: UInt32
    }

    /// A proxy has heard an advertisement.
    func hear(_ item: APIAdvertisement, by number: Int) {
        let content = Advertisement(item.data)
        let strength = Int(item.strength)
        for scan in scans.values {
            scan.add(item.address, content, strength: strength, isRandom: item.addressType & 1 == 1)
        }
        let now = clock.uptime
        for device in expected.values where device.target.matches(item.address, content) {
            device.sightings[number] = ExpectedDevice.Sighting(
                address: item.address, addressType: item.addressType, strength: strength, at: now)
            device.lastStrength[number] = strength
            device.name = content.name ?? device.name
            guard proxies[number].canConnect else { continue }
            if let waiter = device.waiter {
                device.waiter = nil
                waiter.fulfil(.success(()))
            } else if let until = device.pausedUntil, now < until {
                device.presence.sawDevice()
            }
        }
    }

    /// Waits until the device is in reach: a proxy that can connect it hears its advertisement.
    func reach(_ id: DeviceID, _ target: ProxyTarget, presence: DevicePresence) async throws(LinkError) {
        let now = clock.uptime
        expected = expected.filter { $0.key == id || $0.value.pausedUntil.map { now < $0 } ?? true }
        let device = expected[id] ?? ExpectedDevice(target, presence)
        if device.target.device.selector != target.device.selector { device.sightings = [:] }
        (device.target, device.presence, device.pausedUntil) = (target, presence, nil)
        expected[id] = device
        if device.dueAt > now {
            do { try await clock.sleep(for: device.dueAt - now) } catch {
                leave(id)
                throw .notWaiting
            }
        }
        if let trouble {
            leave(id)
            throw trouble
        }
        let fresh = clock.uptime - ExpectedDevice.freshness
        if device.sightings.contains(where: { $0.value.at >= fresh && proxies[$0.key].canConnect }) { return }
        let waiter = Promise<Result<Void, LinkError>>()
        device.waiter = waiter
        let result: Result<Void, LinkError>
        do { result = try await waiter.wait() } catch { result = .failure(.notWaiting) }
        if device.waiter === waiter { device.waiter = nil }
        if case .failure = result { leave(id) }
        try result.get()
    }

    /// The gateway has left the device, and will come back.
    func leave(_ id: DeviceID, dueAt: Duration = .zero) {
        expected[id]?.pausedUntil = max(clock.uptime, dueAt) + ExpectedDevice.memory
        expected[id]?.dueAt = dueAt
    }

    /// Chooses the proxy that connects a device, and waits for one of its connections.
    func takeTurn(_ id: DeviceID) async throws(LinkError) -> Place {
        if proxies.count(where: \.canConnect) > 1 {
            do { try await clock.sleep(for: Self.choiceTime) } catch { throw .notWaiting }
        }
        guard let device = expected[id], let number = choose(device), let sighting = device.sightings[number] else {
            throw trouble
                ?? LinkError(.unreachable, "No proxy hears the device any more. It is connected when it advertises.")
        }
        let proxy = proxies[number]
        // What is heard from now on counts after this connection.
        (device.lastProxy, device.sightings) = (number, [:])
        if !proxy.turns.request(id.text) {
            let promise = Promise<Void>()
            proxy.waiting[id.text] = promise
            change.wake()
            var isCancelled = false
            do { try await promise.wait() } catch { isCancelled = true }
            proxy.waiting[id.text] = nil
            if isCancelled {
                release(id, of: number)
                throw .notWaiting
            }
        }
        return Place(proxy: number, address: sighting.address, addressType: sighting.addressType)
    }

    private func choose(_ device: ExpectedDevice) -> Int? {
        let now = clock.uptime
        let candidates = device.sightings.filter {
            now - $0.value.at <= ProxyChoice.memory && proxies[$0.key].canConnect
        }.map { number, sighting in
            let turns = proxies[number].turns
            return ProxyChoice.Candidate(
                proxy: number, strength: sighting.strength,
                isFull: turns.holders.count >= turns.limit || proxies[number].free == 0,
                isLast: device.lastProxy == number,
                hasFailed: device.failures[number].map { now - $0 < ProxyChoice.penaltyTime } ?? false)
        }
        return ProxyChoice.best(candidates)
    }

    /// Gives back a link.
    func release(_ id: DeviceID, of number: Int) {
        let proxy = proxies[number]
        for next in proxy.turns.release(id.text) { proxy.waiting[next]?.fulfil(()) }
        change.wake()
    }

    /// Waits until the proxy says that it has a free connection, and none that it is ending to this device.
    func waitForFreeConnection(of number: Int, to address: UInt64) async throws(LinkError) {
        let proxy = proxies[number]
        let end = clock.uptime + Self.freeTime
        while proxy.free == 0 || proxy.leaving.contains(address), proxy.isServing {
            let left = end - clock.uptime
            guard left > .zero, !Task.isCancelled else {
                if Task.isCancelled { throw .notWaiting }
                if proxy.leaving.remove(address) != nil { continue }
                throw proxy.options.error(
                    "all of its \(proxy.turns.limit) connections are in use, by what the gateway does not know. Restart it, or remove its other "
                        + "clients.")
            }
            let change = proxy.change
            await clock.withTimeout(left) { await change.wait() }
        }
        if !proxy.canConnect { throw trouble ?? proxy.options.error("the connection broke.", .broken) }
    }
}

extension LinkError {
    static let notWaiting = LinkError(.cancelled, "The gateway no longer waits for the device.")
}

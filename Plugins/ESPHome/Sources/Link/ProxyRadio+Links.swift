import Concurrency
import GatewayKit
import Logging
import SwiftProtobuf
import Vitals

/// Links to devices, from the attempt to the end.
extension ProxyRadio {
    /// How long an end of a link may take: a proxy itself gives up after 10 s, and nothing waits for it.
    static let disconnectTime: Duration = .seconds(5)
    /// How long pairing may take: a person has to press a button of the device.
    static let pairingTime: Duration = .seconds(60)

    /// Runs `body` with a link to a device.
    /// - Throws: what `body` throws; a `LinkError` if there is no link, and with `ended` if the gateway left the device on purpose.
    nonisolated func withLink(
        _ id: DeviceID, _ target: ProxyTarget, presence: DevicePresence,
        _ body: @escaping @Sendable (ProxyLink) async throws -> Void
    ) async throws {
        try await reach(id, target, presence: presence)
        let place: Place
        do { place = try await takeTurn(id) } catch {
            await leave(id)
            throw error
        }
        let link: ProxyLink
        do { link = try await open(place, id, target) } catch {
            await release(id, of: place.proxy)
            await leave(id)
            throw error
        }
        let result = await use(link, body)
        let isLeft = link.link.isLeft
        await close(link.link)
        await release(id, of: place.proxy)
        await endConnection(id, target, isLeft ? .success(()) : result)
        if isLeft { throw LinkError(.ended, "The gateway has left the device, and comes back.") }
        try result.get()
    }

    /// A link is over. The next periodic connection has its time; one that broke is made again as soon as the device advertises, but
    /// not without end.
    private func endConnection(_ id: DeviceID, _ target: ProxyTarget, _ result: Result<Void, any Error>) {
        guard case .periodic(let every, _, _) = target.device.mode else { return leave(id) }
        switch result {
        case .success: expected[id]?.brokenConnections = 0
        // The gateway stops, or a new connection was requested.
        case .failure where Task.isCancelled: return leave(id)
        case .failure:
            let count = (expected[id]?.brokenConnections ?? 0) + 1
            expected[id]?.brokenConnections = count % BluetoothTarget.mostBrokenConnections
            if count < BluetoothTarget.mostBrokenConnections { return leave(id) }
        }
        leave(id, dueAt: clock.uptime + every)
    }

    private nonisolated func use(
        _ link: ProxyLink, _ body: @escaping @Sendable (ProxyLink) async throws -> Void
    ) async -> Result<Void, any Error> {
        await withTaskGroup(of: Result<Void, any Error>?.self) { group in
            group.addTask {
                do { return .success(try await body(link)) } catch { return .failure(error) }
            }
            if case .periodic(_, let idle, let longest) = link.link.target.device.mode {
                group.addTask {
                    await self.watchPeriodic(link.link, idle: idle, longest: longest)
                    return nil
                }
            }
            defer { group.cancelAll() }
            for await case let result? in group { return result }
            return .success(())
        }
    }

    /// Waits until a periodic connection is over, and ends the link then.
    private func watchPeriodic(_ link: OpenLink, idle: Duration, longest: Duration) async {
        let begin = clock.uptime
        while link.ended.value == nil, let traffic = traffic[link.address], traffic.link === link {
            let left = min(traffic.lastActivity + idle, begin + longest) - clock.uptime
            if left <= .zero { return end(link, LinkError(.ended, "The periodic connection is over.")) }
            do { try await clock.sleep(for: left) } catch { return }
        }
    }

    /// Connects a device, pairs it if need be, and reads its services unless they are known.
    private func open(_ place: Place, _ id: DeviceID, _ target: ProxyTarget) async throws(LinkError) -> ProxyLink {
        guard traffic[place.address] == nil else {
            throw LinkError(
                .unreachable, "Another device of the configuration is \(target.device.selector), too. Remove one.")
        }
        let (link, proxy) = (OpenLink(holder: id.text, place: place, target: target), proxies[place.proxy])
        traffic[place.address] = LinkTraffic(link, at: clock.uptime)
        let device = expected[id]
        do {
            let known = try await proxy.control.withLock { () throws(LinkError) in
                try await connect(link, place, device?.known)
            }
            proxy.turns.begin(link.holder, at: clock.uptime)
            change.wake()
            device?.failures[place.proxy] = nil
            device?.known = known
            traffic[place.address]?.known = known
            logger.info(
                "A device is connected.",
                metadata: ["device": "\(id.text)", "proxy": "\(proxy.options.endpoint)"])
            return ProxyLink(
                radio: self, link: link, name: device?.name, services: known.services, maximumPayload: known.payload)
        } catch {
            if error.code != .cancelled {
                device?.failures[place.proxy] = clock.uptime
                device?.known = nil
            }
            await close(link)
            throw error
        }
    }

    private func connect(
        _ link: OpenLink, _ place: Place, _ cached: KnownServices?
    ) async throws(LinkError) -> KnownServices {
        let (number, limit) = (place.proxy, link.target.device.connectTimeout)
        let what = "No connection to \(link.target.device.selector)"
        try await waitForFreeConnection(of: number, to: link.address)
        if let end = link.ended.value { throw end }
        request(cached == nil ? .connectWithoutCache : .connectWithCache, of: link, addressType: place.addressType)
        let connected = link.connected
        let mtu = try await wait(limit, "\(what): it does not answer. Bring it nearer to the proxy.") {
            try? await connected.wait()
        }
        if link.target.isPaired {
            guard proxies[number].features.contains(.pairing) else {
                throw proxies[number].options.error("it cannot pair. Update ESPHome on it to 2023.4 or later.")
            }
            request(.pair, of: link)
            let paired = link.paired
            try await wait(Self.pairingTime, "\(what): the pairing has no end. Put the device in its pairing mode.") {
                try? await paired.wait()
            }
        }
        if let cached { return cached }
        send(.servicesRequest, APIAttribute.with { $0.address = link.address }, to: number)
        let resolved = link.resolved
        var known = try await wait(limit, "\(what): it does not report its services. Bring it nearer to the proxy.") {
            try? await resolved.wait()
        }
        known.payload = max(KnownServices.smallestPayload, mtu - 3)
        return known
    }

    @discardableResult
    private func wait<Value: Sendable>(
        _ limit: Duration, _ message: String, _ value: @escaping @Sendable () async -> Result<Value, LinkError>?
    ) async throws(LinkError) -> Value {
        switch await clock.withTimeout(limit, value) {
        case .some(.some(let result)): try result.get()
        case .some(nil): throw .notWaiting
        case nil: throw LinkError(.timeout, message)
        }
    }

    private func request(_ action: DeviceAction, of link: OpenLink, addressType: UInt32? = nil) {
        let message = APIDeviceRequest.with {
            ($0.address, $0.type) = (link.address, action.rawValue)
            if let addressType { ($0.hasAddressType_p, $0.addressType) = (true, addressType) }
        }
        send(.deviceRequest, message, to: link.proxy)
    }

    /// Makes a proxy disconnect a device, which another one may then connect.
    func disconnect(_ address: UInt64, from number: Int) {
        proxies[number].leaving.insert(address)
        send(
            .deviceRequest,
            APIDeviceRequest.with { ($0.address, $0.type) = (address, DeviceAction.disconnect.rawValue) }, to: number)
    }

    /// Ends a link. Its requests end, too.
    func end(_ link: OpenLink, _ error: LinkError) {
        if link.end(error), let traffic = traffic[link.address], traffic.link === link { traffic.abandon(error) }
    }

    /// Ends a link, and waits until the device is disconnected.
    private func close(_ link: OpenLink) async {
        end(link, LinkError(.cancelled, "The gateway ended the connection."))
        var lost = 0
        while let value = try? await link.values.next() {
            if value.characteristic.properties.contains(.indicate) { lost += 1 }
        }
        if lost > 0 {
            logger.error(
                "Records that the device sent are lost; no driver took them before the connection ended.",
                metadata: ["device": "\(link.holder)", "records": "\(lost)"])
        }
        if proxies[link.proxy].connection != nil, link.left.value == nil {
            disconnect(link.address, from: link.proxy)
            let left = link.left
            // The proxy hears of it also if the task is cancelled; nothing waits for the answer then.
            await clock.withTimeout(Self.disconnectTime) { try? await left.wait() }
        }
        if traffic[link.address]?.link === link { traffic[link.address] = nil }
    }

    /// What a proxy says about a connection to a device.
    func changed(_ message: APIDeviceConnection, from number: Int) {
        if !message.isConnected, proxies[number].leaving.remove(message.address) != nil {
            proxies[number].change.wake()
        }
        guard let link = traffic[message.address]?.link, link.proxy == number else { return }
        if message.isConnected {
            link.connected.fulfil(.success(Int(message.mtu)))
        } else {
            link.left.fulfil(())
            let what = "No connection to \(link.target.device.selector)"
            let isOpen = link.connected.value != nil
            end(
                link, LinkError(isOpen ? .broken : .unreachable, isOpen ? message.reason : "\(what): \(message.reason)")
            )
        }
    }

    /// What a proxy says about the pairing with a device.
    func paired(_ message: APIPairing, from number: Int) {
        guard let link = traffic[message.address]?.link, link.proxy == number else { return }
        link.paired.fulfil(
            message.isPaired
                ? .success(())
                : .failure(
                    LinkError(.unreachable, "The pairing with \(link.target.device.selector): \(message.reason)")))
    }

    func signalStrength(of link: OpenLink) -> Int? {
        DeviceID(link.holder).flatMap { expected[$0]?.lastStrength[link.proxy] }
    }
}

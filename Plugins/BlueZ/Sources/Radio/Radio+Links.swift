import Concurrency
import GatewayKit
import Logging
import Vitals

/// Links to devices, from the attempt to the end.
extension Radio {
    /// How long an end of a link may take: BlueZ waits two seconds for what is still being written.
    static let disconnectTime: Duration = .seconds(5)

    /// Connects a device, pairs it if need be, and waits for its services.
    func open(
        _ path: String, _ id: DeviceID, _ target: DeviceTarget, at place: Adapter.Place,
        _ passkeys: PasskeyRequests
    ) async throws(LinkError) -> BlueZLink {
        guard let adapter = adapters[place.path] else { throw .adapterGone }
        let link = OpenLink(holder: id.text, path: path, device: target)
        guard links[path] == nil else {
            throw LinkError(.unreachable, "Another device of the configuration is \(target.selector), too. Remove one.")
        }
        let traffic = LinkTraffic(link, at: clock.uptime)
        links[path] = traffic
        adapter.connecting += 1
        defer {
            adapter.connecting -= 1
            change.wake()
        }
        var begin = clock.uptime
        do {
            try await adapter.control.withLock { () throws(LinkError) in
                begin = clock.uptime
                if adapter.scan.isOurs { try? await stopScan(adapter) }
                try await connect(traffic, passkeys)
            }
        } catch {
            // Records that came meanwhile are taken from a link that is over.
            guard link.ended.value != nil, traffic.hasReportedRecords else {
                if error.code != .cancelled { rest(id, since: begin) }
                await close(link)
                throw error
            }
        }
        adapter.turns.begin(link.holder, at: clock.uptime)
        discover(traffic)
        let payload = traffic.objects.values.compactMap { tree[$0, BlueZ.characteristic]?["MTU"]?.number }.max()
        return BlueZLink(
            radio: self, link: link, name: tree[link.path, BlueZ.device]?["Name"]?.text, services: traffic.services,
            maximumPayload: max(BlueZLink.minimumPayload, (payload ?? 0) - 3))
    }

    /// Notes the services of a device, as long as BlueZ knows them.
    private func discover(_ traffic: LinkTraffic) {
        if traffic.services.isEmpty { traffic.found(tree.services(of: traffic.link.path)) }
    }

    /// Ends a link, after it has delivered what the device sent.
    func end(_ traffic: LinkTraffic, _ error: LinkError) {
        discover(traffic)
        traffic.end(error)
    }

    private func connect(_ traffic: LinkTraffic, _ passkeys: PasskeyRequests) async throws(LinkError) {
        let (link, path, target) = (traffic.link, traffic.link.path, traffic.link.device)
        let what = "No connection to \(target.selector)"
        do throws(BusError) {
            if target.pairing != .none, tree[path, BlueZ.device]?["Paired"]?.flag != true {
                try await pair(path, target, passkeys)
            }
            if tree[path, BlueZ.device]?["Connected"]?.flag != true {
                try await call(path, BlueZ.device, "Connect", timeout: target.connectTimeout)
            }
        } catch {
            guard case .reply("org.bluez.Error.AlreadyConnected", _) = error else {
                throw link.ended.value ?? LinkError(of: error, what)
            }
        }
        traffic.wasConnected = true
        if tree[path, BlueZ.device]?["ServicesResolved"]?.flag == true { link.resolved.fulfil(()) }
        let resolved = await clock.withTimeout(target.connectTimeout) {
            do { try await link.resolved.wait() } catch { return false }
            return true
        }
        if let end = link.ended.value { throw end }
        switch resolved {
        case true: break
        case false: throw .notWaiting(for: target)
        default:
            throw LinkError(
                .timeout,
                "\(what): it does not report its services within \(target.connectTimeout.configurationText). Bring it nearer."
            )
        }
        guard tree[path, BlueZ.device]?["Connected"]?.flag == true else {
            throw LinkError(
                .broken, "\(what): the device ended the connection at once. It is tried again when it advertises.")
        }
    }

    /// Ends a link, and waits until the device is disconnected.
    func close(_ link: OpenLink) async {
        let end = LinkError(.cancelled, "The gateway ended the connection.")
        link.end(end)
        if let traffic = links[link.path], traffic.link === link {
            let lost = await traffic.close(end)
            if lost > 0 {
                logger.error(
                    "Records that the device sent are lost; no driver took them before the connection ended.",
                    metadata: ["device": "\(link.holder)", "records": "\(lost)"])
            }
        }
        withdrawServices(of: link)
        if bus != nil, owner != nil, tree[link.path, BlueZ.device] != nil {
            // It also ends an attempt to connect.
            _ = try? await call(
                link.path, BlueZ.device, "Disconnect", timeout: Self.disconnectTime, isCleanUp: true)
        }
        if links[link.path]?.link === link { links[link.path] = nil }
    }

    /// Waits until a periodic connection is over, and ends the link then.
    func watchPeriodic(_ link: OpenLink, idle: Duration, longest: Duration) async {
        let begin = clock.uptime
        while link.ended.value == nil, let traffic = links[link.path], traffic.link === link {
            let end = min(traffic.lastActivity + idle, begin + longest)
            let left = end - clock.uptime
            if left <= .zero { return self.end(traffic, LinkError(.ended, "The periodic connection is over.")) }
            do { try await clock.sleep(for: left) } catch { return }
        }
    }
}

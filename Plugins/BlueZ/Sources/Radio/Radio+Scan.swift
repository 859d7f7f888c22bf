import Concurrency
import GatewayKit
import Logging
import Vitals

/// Switches adapters on, lets them scan, and ends links whose turn is over.
extension Radio {
    /// Manages the adapters until the task is cancelled: when something has changed, or a time is up.
    func supervise() async {
        while !Task.isCancelled {
            let next = await checkScans()
            guard let next else {
                await change.wait()
                continue
            }
            await clock.withTimeout(max(.zero, next - clock.uptime)) { [change] in await change.wait() }
        }
    }

    /// Does what is due, and returns when something is due next.
    private func checkScans() async -> Duration? {
        var times: [Duration] = []
        forgetDevices()
        if let refusal, refusal.askAgainAt <= clock.uptime { askForObjects() }
        if let refusal { times.append(refusal.askAgainAt) }
        let wanted =
            expected.values.compactMap { adapterPath(of: $0.target) } + scans.values.flatMap(\.adapters)
            + adapters.values.filter(\.scan.isOurs).map(\.path)
        for path in Set(wanted).sorted() where tree[path, BlueZ.adapter] != nil {
            let adapter = adapter(at: path)
            endTurns(of: adapter)
            if let end = adapter.turns.nextEnd, end > clock.uptime { times.append(end) }
            if let time = await switchOn(adapter) { times.append(time) }
            if let time = await scan(adapter) { times.append(time) }
        }
        for device in expected.values {
            if case .paused(let until) = device.state { times.append(until) }
        }
        return times.min()
    }

    private func forgetDevices() {
        let now = clock.uptime
        expected = expected.filter { entry in
            if case .paused(let until) = entry.value.state { now < until } else { true }
        }
    }

    /// The gateway's view of an adapter.
    func adapter(at path: String) -> Adapter {
        if let known = adapters[path] { return known }
        let adapter = Adapter(path: path, options: options)
        adapters[path] = adapter
        return adapter
    }

    private func endTurns(of adapter: Adapter) {
        for holder in adapter.turns.overdue(at: clock.uptime) {
            for traffic in links.values where traffic.link.holder == holder {
                end(traffic, LinkError(.ended, "The device's turn is over; another one has the link now."))
            }
        }
    }

    /// Switches an adapter on that has appeared, or that the gateway has switched off. Returns when to try again.
    private func switchOn(_ adapter: Adapter) async -> Duration? {
        guard tree[adapter.path, BlueZ.adapter]?["Powered"]?.flag == false else {
            adapter.trouble = nil
            (adapter.isToBeOn, adapter.switchOnAt) = (false, .zero)
            adapter.switchOnWaits.reset()
            return nil
        }
        guard adapter.isToBeOn else {
            note("it was switched off", about: adapter)
            return nil
        }
        if clock.uptime < adapter.switchOnAt { return adapter.switchOnAt }
        do throws(BusError) {
            try await setProperty(adapter.path, BlueZ.adapter, "Powered", .bool(true))
            return nil
        } catch {
            var generator = SystemRandomNumberGenerator()
            adapter.switchOnAt = clock.uptime + adapter.switchOnWaits.next(using: &generator)
            note("\(error); it is tried again", about: adapter)
            return adapter.switchOnAt
        }
    }

    /// An adapter is off: those that wait for its devices get the reason.
    private func note(_ why: String, about adapter: Adapter) {
        guard adapter.trouble == nil else { return }
        adapter.trouble = LinkError(
            .unreachable,
            "The Bluetooth adapter \(adapter.name) is off: \(why). Switch it on: rfkill unblock bluetooth, bluetoothctl power on."
        )
        logger.warning("An adapter is off.", metadata: ["adapter": "\(adapter.name)", "reason": "\(why)"])
        settle()
    }

    /// Switches an adapter off and on. It is not left off, also if the gateway ends meanwhile: `switchOn` goes on with what fails here.
    private func powerCycle(_ adapter: Adapter) async throws(BusError) {
        adapter.isToBeOn = true
        do throws(BusError) { try await setProperty(adapter.path, BlueZ.adapter, "Powered", .bool(false)) } catch {
            // Without an answer it may be off all the same.
            if case .reply = error { throw error }
        }
        try await setProperty(adapter.path, BlueZ.adapter, "Powered", .bool(true), isCleanUp: true)
    }

    /// Begins or ends the scan of an adapter, and restarts it if it is stuck. Returns when to check again.
    private func scan(_ adapter: Adapter) async -> Duration? {
        // A connecting device wakes `supervise` afterwards.
        guard adapter.connecting == 0, let properties = tree[adapter.path, BlueZ.adapter] else { return nil }
        let now = clock.uptime
        let situation = ScanWatch.Situation(
            isWanted: expected.values.contains {
                $0.isListenedFor(at: now) && adapterPath(of: $0.target) == adapter.path
            } || scans.values.contains { $0.adapters.contains(adapter.path) },
            isPowered: properties["Powered"]?.flag ?? false, isDiscovering: properties["Discovering"]?.flag ?? false,
            hasLinks: !adapter.turns.holders.isEmpty)
        let (action, time) = adapter.scan.next(situation, at: now)
        if action == .none { return time }
        await adapter.control.withLock { await perform(action, on: adapter) }
        change.wake()
        return nil
    }

    private func perform(_ action: ScanWatch.Action, on adapter: Adapter) async {
        do throws(BusError) {
            switch action {
            case .none: break
            case .start:
                try await startScan(adapter)
                adapter.scan.started(at: clock.uptime)
                adapter.scanFailure = nil
                settleScans()
            case .stop:
                do throws(BusError) { try await stopScan(adapter) } catch {
                    var generator = SystemRandomNumberGenerator()
                    adapter.scan.stopFailed(at: clock.uptime, using: &generator)
                    if error == .cancelled { return }
                    say(.warning, "The scan of an adapter does not end; it is tried again.", of: adapter, "\(error)")
                }
            case .restart:
                say(.notice, "An adapter hears nothing; its scan begins again.", of: adapter)
                try? await stopScan(adapter)
                try await startScan(adapter)
                adapter.scan.restarted(at: clock.uptime)
            case .powerCycle:
                say(.warning, "An adapter still hears nothing; it is switched off and on.", of: adapter)
                adapter.scan.powerCycled()
                try? await stopScan(adapter)
                try await powerCycle(adapter)
                try await startScan(adapter)
                adapter.scan.restarted(at: clock.uptime)
            }
        } catch {
            var generator = SystemRandomNumberGenerator()
            adapter.scan.failed(at: clock.uptime, using: &generator)
            if error == .cancelled { return }
            adapter.scanFailure = LinkError(of: error, "The Bluetooth adapter \(adapter.name) does not scan")
            settleScans()
            say(.warning, "An adapter does not scan.", of: adapter, "\(error)")
        }
    }

    /// Says it of an adapter; what repeats is said at growing distances.
    private func say(_ level: Logger.Level, _ message: Logger.Message, of adapter: Adapter, _ error: String? = nil) {
        let isDue = adapter.scanNotices.isDue("\(message) \(error ?? "")", at: clock.uptime)
        var metadata: Logger.Metadata = ["adapter": "\(adapter.name)", "times": "\(adapter.scanNotices.count)"]
        if let error { metadata["error"] = "\(error)" }
        logger.log(level: isDue ? level : .debug, message, metadata: metadata)
    }

    private func startScan(_ adapter: Adapter) async throws(BusError) {
        // Without duplicates some adapters report a device only once, and its return is not seen.
        let filter = BusValue.options(["Transport": .string("le"), "DuplicateData": .bool(true)])
        try await call(adapter.path, BlueZ.adapter, "SetDiscoveryFilter", [filter])
        do throws(BusError) { try await call(adapter.path, BlueZ.adapter, "StartDiscovery") } catch {
            // The earlier scan still runs, for example after a call without an answer.
            guard case .reply("org.bluez.Error.InProgress", _) = error else { throw error }
        }
    }

    /// Ends the scan of an adapter.
    func stopScan(_ adapter: Adapter) async throws(BusError) {
        do throws(BusError) { try await call(adapter.path, BlueZ.adapter, "StopDiscovery") } catch {
            // Without an answer, or while BlueZ is busy, it may still run.
            guard case .reply(let error, _) = error, error != "org.bluez.Error.InProgress" else { throw error }
        }
        adapter.scan.stopped()
    }

    /// Sets a property of an object of BlueZ.
    func setProperty(
        _ path: String, _ interface: String, _ name: String, _ value: BusValue, isCleanUp: Bool = false
    ) async throws(BusError) {
        let arguments: [BusValue] = [.string(interface), .string(name), .variant(value)]
        try await call(path, DBus.properties, "Set", arguments, isCleanUp: isCleanUp)
    }

    /// Calls a method of BlueZ.
    @discardableResult
    func call(
        _ path: String, _ interface: String, _ member: String, _ arguments: [BusValue] = [],
        timeout: Duration = Radio.answerTime, isCleanUp: Bool = false
    ) async throws(BusError) -> [BusValue] {
        guard let bus, let owner else {
            throw .reply(name: "org.freedesktop.DBus.Error.ServiceUnknown", message: "BlueZ does not run")
        }
        return try await bus.call(
            owner, path, interface, member, arguments, timeout: timeout, isCleanUp: isCleanUp)
    }
}

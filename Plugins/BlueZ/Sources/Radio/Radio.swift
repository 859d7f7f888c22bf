import Concurrency
import GatewayKit
import Logging
import Vitals

/// The adapters of the machine, and what the gateway's devices want of them: a scan, links in turns, pairing.
///
/// It runs on the thread of its bus, so that BlueZ's signals change it in their order. Its parts belong to it, and are distinguished by
/// file: events, scan, reach, scans of people, links, requests, pairing, and services of the gateway.
actor Radio {
    /// The thread that it shares with the bus.
    nonisolated let loop: BusLoop
    nonisolated var unownedExecutor: UnownedSerialExecutor { loop.asUnownedSerialExecutor() }
    nonisolated let options: BlueZOptions
    nonisolated let clock: GatewayClock
    nonisolated let logger: Logger

    /// The connection, while it is open.
    var bus: Bus?
    /// The unique name of BlueZ on the bus; `nil` while it does not run.
    var owner: String?
    var tree = ObjectTree()
    /// While BlueZ does not say what it has: why, and when it is asked again.
    var refusal: (error: LinkError, askAgainAt: Duration)?
    private var askAgain = BackOff(first: Radio.firstQuestionWait, longest: Radio.longestQuestionWait)
    /// The adapters in use, by object.
    var adapters: [String: Adapter] = [:]
    /// The links, by the object of the device.
    var links: [String: LinkTraffic] = [:]
    /// The devices that the gateway has tried to connect lately.
    var expected: [DeviceID: ExpectedDevice] = [:]
    /// The pairing that runs.
    var pairing: PairingAttempt?
    /// One device is paired at a time, since the agent's abilities are those that it needs.
    let pairingTurn = AsyncMutex()
    /// What the gateway offers to devices, by the root of its objects.
    var offered: [String: OfferedServices] = [:]
    var offerNumber = 0
    /// The scans of people, by number.
    var scans: [Int: NearbyScan] = [:]
    var scanNumber = 0
    /// Wakes `supervise`.
    let change = Signal()
    /// It is known which adapters and devices there are.
    private let isReady = Promise<Void>()

    init(_ options: BlueZOptions, loop: BusLoop, clock: GatewayClock, logger: Logger) {
        (self.options, self.loop, self.clock, self.logger) = (options, loop, clock, logger)
    }

    /// Connects to the bus, and serves devices until `body` returns or the bus closes the connection.
    func run(_ body: @escaping @Sendable () async throws -> Void) async throws {
        let bus: Bus
        do throws(BusError) {
            bus = try Bus(address: options.bus, loop: loop)
            self.bus = bus
            try follow(bus)
        } catch {
            self.bus?.close()
            self.bus = nil
            throw RadioError(
                "Bluetooth needs D-Bus, which cannot be reached: \(error). Start it: systemctl start dbus. A container "
                    + "needs /run/dbus/system_bus_socket mounted.")
        }
        defer { close(bus) }
        let closed = bus.closed
        try await withThrowingTaskGroup(of: Void.self) { [isReady] group in
            group.addTask { await self.supervise() }
            group.addTask {
                let reason = try await closed.wait()
                throw isReady.value == nil ? .refused(reason) : RadioError("D-Bus closed the connection: \(reason)")
            }
            group.addTask {
                try await isReady.wait()
                try await body()
            }
            defer { group.cancelAll() }
            try await group.next()
        }
    }

    private func close(_ bus: Bus) {
        vanished("The gateway closes the connection to BlueZ.")
        bus.close()
        self.bus = nil
    }

    /// Receives what BlueZ reports, and asks for all its objects.
    private func follow(_ bus: Bus) throws(BusError) {
        let sender = "sender='\(BlueZ.service)'"
        try bus.match("\(sender),interface='\(DBus.objectManager)'") { self.objects($0) }
        try bus.match("\(sender),interface='\(DBus.properties)',member='PropertiesChanged'") { self.properties($0) }
        try bus.match("\(sender),interface='\(BlueZ.device)',member='Disconnected'") { self.disconnected($0) }
        try bus.match(
            "sender='\(DBus.service)',interface='\(DBus.service)',member='NameOwnerChanged',arg0='\(BlueZ.service)'"
        ) { self.ownerChanged($0) }
        try bus.export(below: Self.agentPath) { self.agent($0) }
        try bus.export(below: Self.offerPath) { self.answer($0) }
        _ = try bus.send(
            to: DBus.service, DBus.path, DBus.service, "GetNameOwner", [.string(BlueZ.service)],
            timeout: Self.answerTime
        ) { result in
            switch result.map(\.first?.text) {
            case .success(let owner?): self.appeared(owner)
            // `run` ends with the reason.
            case .failure(.closed): break
            case .success, .failure: self.ready()
            }
        }
    }

    /// How long BlueZ may take for what needs no radio.
    static let answerTime: Duration = .seconds(10)

    /// The waits before BlueZ is asked again what it has: it may be slow while the machine starts, and its rights may change.
    static let firstQuestionWait: Duration = .seconds(1)
    /// The longest of these waits, which double.
    static let longestQuestionWait: Duration = .minutes(1)

    /// BlueZ runs: asks for its objects.
    func appeared(_ owner: String) {
        guard self.owner != owner else { return }
        self.owner = owner
        askForObjects()
    }

    /// Asks BlueZ what it has. If it does not say so, that is the error of all links, and it is asked again.
    func askForObjects() {
        guard let owner, let bus else { return }
        refusal?.askAgainAt = clock.uptime + Self.longestQuestionWait
        let asked = try? bus.send(
            to: owner, "/", DBus.objectManager, "GetManagedObjects", [], timeout: Self.answerTime
        ) { result in
            guard self.owner == owner else { return }
            do throws(BusError) { self.accept(ObjectTree(try result.get())) } catch { self.refused(error) }
            self.ready()
        }
        if asked == nil { ready() }
    }

    private func accept(_ objects: ObjectTree) {
        tree = objects
        refusal = nil
        askAgain.reset()
        logger.info("BlueZ is there.", metadata: ["adapters": "\(tree.paths(with: BlueZ.adapter).count)"])
    }

    private func refused(_ error: BusError) {
        if refusal == nil {
            logger.warning("BlueZ does not say what it has.", metadata: ["error": "\(error)"])
        }
        var generator = SystemRandomNumberGenerator()
        let time = clock.uptime + askAgain.next(using: &generator)
        refusal = (LinkError(of: error, "BlueZ does not say which adapters there are"), time)
    }

    /// BlueZ is gone: so are its adapters and links.
    func vanished(_ reason: String) {
        owner = nil
        for traffic in links.values { end(traffic, LinkError(.broken, reason)) }
        (tree, refusal) = (ObjectTree(), nil)
        askAgain.reset()
        offered = [:]
        for adapter in adapters.values { abandon(adapter) }
        settle()
    }

    /// Nothing waits for a link of this adapter any more.
    func abandon(_ adapter: Adapter) {
        adapters[adapter.path] = nil
        for promise in adapter.waiting.values { promise.fulfil(()) }
        adapter.waiting = [:]
    }

    private func ready() {
        isReady.fulfil(())
        settle()
    }

    /// Checks whether devices can still be waited for, and what the adapters have to do.
    func settle() {
        for (id, device) in expected {
            guard case .waiting(let promise) = device.state, let trouble = trouble(for: device.target) else { continue }
            expected[id]?.state = .paused(until: clock.uptime + ExpectedDevice.memory)
            promise.fulfil(.failure(trouble))
        }
        settleScans()
        change.wake()
    }
}

/// Why Bluetooth cannot be used at all.
struct RadioError: Error, CustomStringConvertible {
    let description: String
    init(_ description: String) { self.description = description }

    /// D-Bus ended the connection before it said anything, as it does with a user number that has no name.
    static func refused(_ reason: String) -> RadioError {
        RadioError(
            "D-Bus closed the connection at once: \(reason). It serves only users whom the system knows: "
                + "`getent passwd $(id -u)` must name the gateway's user, for a container on the host.")
    }
}

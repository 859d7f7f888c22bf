import Foundation

/// One gateway with its own broker, store, devices and subscriber, in a folder that is removed at the end.
final class Setup {
    let folder: URL
    let broker: BrokerProcess
    let arrivals: Arrivals
    let subscriber: Subscriber
    let feed: FeedProcess?
    let gateway: GatewayProcess
    let plan: FeedPlan

    /// The program that acts as the devices.
    enum DeviceKind {
        /// The feeder.
        case fed
        /// The gateway's own simulated ones.
        case simulated
        /// A phone: the only device is its export, at `exportPath`.
        case exported
        /// No device is reachable, and connecting is refused.
        case offline
    }

    /// The differences between setups.
    struct Setting {
        var devices = 10
        var kind = DeviceKind.fed
        var historyCount = 0
        /// Milliseconds between two keys, and the age of the first key in milliseconds.
        var step: Int64 = 1
        var age: Int64 = 25 * 60_000
        /// A store to keep; `nil` for a new one.
        var store: URL?
        /// The gateway's `store.batch_window`; `nil` for its default.
        var batchWindow: String?
    }

    private init(_ settings: RunSettings, _ name: String, _ setting: Setting) throws {
        folder = settings.work.appending(path: name)
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        if setting.kind == .exported {
            try FileManager.default.createDirectory(
                at: folder.appending(path: "phone"), withIntermediateDirectories: false)
        }
        broker = try BrokerProcess(folder: folder)
        // Whole minutes, since an export counts seconds and its minutes are whole ones.
        let now = setting.kind == .exported ? Instant.wall / 60_000_000 * 60_000 : Instant.wall / 1000
        plan = FeedPlan(
            base: now - setting.age, step: setting.step, historyCount: setting.historyCount,
            deviceCount: setting.devices)
        let isFed = setting.kind == .fed
        // Simulated samples have no keys; they are only counted.
        arrivals = Arrivals(
            devices: isFed || setting.kind == .exported ? setting.devices : 0,
            key: .init(base: plan.base, step: plan.step))
        subscriber = try Subscriber(port: broker.port, arrivals: arrivals)
        let feed = isFed ? try FeedProcess(plan, folder: folder) : nil
        self.feed = feed
        gateway = GatewayProcess(program: settings.gateway, folder: folder)
        let devices: GatewayConfiguration.Devices =
            switch setting.kind {
            case .fed: .link(ports: feed?.ports ?? [])
            case .simulated: .simulated(count: setting.devices)
            case .exported: .export(folder: "phone")
            case .offline: .link(ports: Array(repeating: try Loopback.freePort(), count: setting.devices))
            }
        try GatewayConfiguration.write(
            to: folder, store: setting.store ?? folder.appending(path: "vitals.sqlite"), broker: broker.port,
            devices: devices, batchWindow: setting.batchWindow)
    }

    /// Where a phone's export appears.
    var exportPath: String { folder.appending(path: "phone/Gadgetbridge.db").path }

    /// Makes a setup without starting the gateway, and cleans up afterwards.
    static func with<Result>(
        _ settings: RunSettings, _ name: String, _ setting: Setting = Setting(), _ body: (Setup) throws -> Result
    ) throws -> Result {
        let setup = try Setup(settings, name, setting)
        defer { setup.clear() }
        return try body(setup)
    }

    private func clear() {
        gateway.stop()
        subscriber.end()
        broker.stop()
        try? FileManager.default.removeItem(at: folder)
    }

    /// The feeder of the setup.
    func feeder() throws -> FeedProcess {
        guard let feed else { throw BenchError("The devices of this setup are not fed.") }
        return feed
    }

    /// Starts the gateway and waits until it is connected to the broker and to every device of the feeder.
    func startGateway() throws {
        let before = arrivals.onlineAt.count
        try gateway.start()
        try wait(30, for: "the gateway to connect with the broker") { arrivals.onlineAt.count > before }
        try waitForDevices()
    }

    func waitForDevices() throws {
        guard let feed else { return }
        try wait(60, for: "the gateway to connect with the devices") { try feed.counts.connected == plan.deviceCount }
    }

    /// Waits for a condition; fails if the gateway ends or the time is over first.
    func wait(_ seconds: Double, for what: String, until condition: () throws -> Bool) throws {
        let isSo = try Instant.wait(upTo: seconds) {
            try gateway.check()
            return try condition()
        }
        guard isSo else { throw BenchError("Waited \(Int(seconds)) s for \(what), in vain.") }
    }

    /// Lets the gateway run for a time.
    func run(seconds: Double) throws {
        let start = Instant.steady
        while Instant.seconds(since: start) < seconds {
            try gateway.check()
            Instant.pause(seconds: min(0.1, seconds - Instant.seconds(since: start)))
        }
    }

    /// Waits until everything sent has arrived, or nothing has come for a while.
    /// - Returns: the number of samples sent.
    @discardableResult
    func drain(_ sent: Int, quiet: Double = 15) throws -> Int {
        var (last, since) = (arrivals.samples, Instant.steady)
        while arrivals.received < sent {
            try gateway.check()
            if arrivals.samples != last { (last, since) = (arrivals.samples, Instant.steady) }
            if Instant.seconds(since: since) > quiet { break }
            Instant.pause(seconds: 0.02)
        }
        return sent
    }
}

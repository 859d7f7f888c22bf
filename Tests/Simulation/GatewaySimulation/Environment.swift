import Contract
import Delivery
import Engines
import Foundation
import Gateway
import GatewayKit
import GatewayTesting
import Logging
import MQTT
import Store
import Synchronization
import TestSupport
import Vitals

/// The whole gateway between wearables and a broker with random faults, in simulated time.
package final class Environment: Sendable {
    /// The faults of an environment.
    package struct Plan: Sendable {
        package var brokerFaults = true
        /// Whether the broker does not take some messages for a while.
        package var brokerRefusals = true
        package var deviceFaults = true
        package var crashes = true
        /// Whether the disk is full at times, and the store is damaged in some runs.
        package var storeFaults = true
        /// Whether the machine's clock is occasionally set.
        package var clockFaults = true
        /// Whether the gateway changes its time zone at each start.
        package var zoneChanges = false
        /// Whether commands are sent.
        package var commands = true
        /// The duration of the faults, and the quiet time for recovery after them.
        package var trouble: Duration = .minutes(6)
        package var recovery: Duration = .minutes(15)

        /// All faults.
        package init() {}
    }

    let simulation: Simulation
    private let gateway: DeviceID
    let broker: InMemoryBroker
    /// The version of MQTT that the gateway speaks: mostly 5.
    let version: MQTTVersion
    let wearables: [Wearable]
    let plan: Plan
    let trace: Trace?
    private let commander: Commander
    /// How many commands come at once; `nil` in most runs.
    let flood: Int?
    let consumer: Consumer
    let observation: BrokerObservation
    let stores: StoreFolder
    let random: Mutex<SplitMix64>
    let restarts = Mutex(0)
    let isDiskFull = Mutex(false)
    /// Whether the last gateway has ended by itself.
    private let hasEnded = Mutex(false)
    /// When the disk was full, and when it had room again.
    let diskSettings = Mutex<[(at: Duration, isFull: Bool)]>([])
    /// When the store is damaged: at the first end of a gateway from then on. `nil` in most runs, and as soon as it is.
    let damage: Mutex<Duration?>
    /// When the store was damaged.
    let damages = Mutex<[Duration]>([])
    /// When gateways crashed, or had to be gone after a stop.
    let ends = Mutex<[Duration]>([])
    /// When the machine's clock was set, and whether it was right from then on.
    let clockSettings = Mutex<[(at: Duration, isRight: Bool)]>([])
    /// The calendar of the running gateway.
    let calendar: Mutex<LocalCalendar>

    init(simulation: Simulation, plan: Plan, trace: Trace? = nil) throws {
        guard let gateway = DeviceID("home") else { throw CancellationError() }
        self.gateway = gateway
        self.simulation = simulation
        self.plan = plan
        self.trace = trace
        var random = simulation.random()
        let clock = simulation.trueClock
        broker = InMemoryBroker(clock: clock, generator: simulation.random())
        observation = broker.observe("vitals2mqtt/#")
        stores = try StoreFolder()
        let rareEvents = RareEvents(random, plan)
        flood = rareEvents.flood
        damage = Mutex(rareEvents.damage)
        wearables = (1...3).compactMap { number in
            DeviceID("wearable-\(number)").map { id in
                Wearable(
                    id: id, clock: clock, faults: plan.deviceFaults ? Self.faults(&random) : Wearable.Faults(),
                    asksForReceipts: number == 2, random: random.split(),
                    zeros: rareEvents.zeros[number - 1], trace: trace)
            }
        }
        commander = Commander(broker, clock: clock, random: random.split(), flood: flood, trace: trace)
        consumer = Consumer(
            broker, observation: observation, clock: clock, rounds: Int(plan.recovery / .minutes(1)) - 3, trace: trace)
        calendar = Mutex(Self.calendar(&random))
        version = Int.random(in: 0..<4, using: &random) == 0 ? .v311 : .v5
        self.random = Mutex(random)
    }

    private static func faults(_ random: inout SplitMix64) -> Wearable.Faults {
        Wearable.Faults(
            refusesConnection: Double.random(in: 0...0.5, using: &random),
            breaksPerMinute: Double.random(in: 0...0.5, using: &random),
            failsCall: Double.random(in: 0...0.05, using: &random),
            hangsCall: Double.random(in: 0...0.01, using: &random),
            repeatsPage: Double.random(in: 0...0.3, using: &random),
            losesContact: Double.random(in: 0...0.05, using: &random),
            keepsNonsense: Double.random(in: 0...0.2, using: &random))
    }

    /// Runs the environment: first with faults, then without.
    func run() async throws {
        try await withThrowingTaskGroup(of: Void.self) { group in
            for wearable in wearables { group.addTask { await wearable.run() } }
            if plan.brokerFaults { group.addTask { try await self.troubleBroker() } }
            if plan.brokerRefusals { group.addTask { try await self.refuseMessages() } }
            if plan.storeFaults { group.addTask { try await self.fillDisk() } }
            if plan.clockFaults { group.addTask { try await self.setClock() } }
            if plan.commands { group.addTask { try await self.commander.run(self.wearables.map(\.id)) } }
            group.addTask { try await self.keepGatewayRunning() }
            try await simulation.gatewayClock.sleep(for: plan.trouble)
            peace()
            group.addTask { try await self.consumer.run() }
            try await simulation.gatewayClock.sleep(for: plan.recovery)
            // The last samples have to arrive, too, and their day to be published.
            commander.rest()
            for wearable in wearables { wearable.rest() }
            trace?.note("simulation", "the wearables rest")
            try await simulation.gatewayClock.sleep(for: .minutes(1))
            group.cancelAll()
            while let result = await group.nextResult() {
                if case .failure(let error) = result, !(error is CancellationError) { throw error }
            }
        }
    }

    let isPeaceful = Mutex(false)

    private func peace() {
        isPeaceful.withLock { $0 = true }
        trace?.note("simulation", "the faults end")
        broker.setFaults(BrokerFaults())
        broker.release()
        broker.refuseConnections(nil)
        if plan.brokerRefusals { takeEverything() }
        simulation.correctDate()
        noteClock()
        for wearable in wearables { wearable.setFaults(Wearable.Faults()) }
    }

    /// Sets the machine's clock wrong at random times, and right again later.
    private func setClock() async throws {
        while !isPeaceful.withLock({ $0 }) {
            try await simulation.gatewayClock.sleep(for: draw(10...120))
            guard !isPeaceful.withLock({ $0 }) else { return }
            switch drawNumber(0...3) {
            case 0: simulation.correctDate()
            case 1: simulation.jumpDate(by: .seconds(drawNumber(-90...90)))
            case 2: simulation.jumpDate(by: .minutes(drawNumber(-180...180)))
            default: simulation.jumpDate(by: .days(drawNumber(-400...400)))
            }
            noteClock()
        }
    }

    private func noteClock() {
        trace?.note("clock", "shows \(simulation.date)")
        let setting = (simulation.uptime, simulation.date == simulation.trueDate)
        clockSettings.withLock { $0.append(setting) }
    }

    /// The time of a stop, as the process grants it; then it crashes all the same.
    private static let stopTime: Duration = .seconds(5)

    private static let zones = ["Europe/Berlin", "America/New_York", "Asia/Kathmandu", "UTC"]

    private static func calendar(_ random: inout SplitMix64) -> LocalCalendar {
        zones.randomElement(using: &random).flatMap { LocalCalendar(identifier: $0) } ?? LocalCalendar(timeZone: .gmt)
    }

    /// Runs the gateway, lets it crash or stops it at random times, and restarts it.
    private func keepGatewayRunning() async throws {
        while !Task.isCancelled {
            let runTime: Duration? = plan.crashes && !isPeaceful.withLock { $0 } ? drawRunTime() : nil
            trace?.note("gateway", "starts")
            try await runGateway(for: runTime)
            if Task.isCancelled { return }
            trace?.note("gateway", "is gone")
            restarts.withLock { $0 += 1 }
            broker.cut("gateway")
            try await simulation.gatewayClock.sleep(for: draw(1...10))
        }
    }

    private func runGateway(for runTime: Duration?) async throws {
        let outbox = Outbox()
        let disk = try stores.open(simulation, outbox: outbox)
        let store = store(on: disk)
        if plan.zoneChanges {
            let moved = random.withLock { Self.calendar(&$0) }
            calendar.withLock { $0 = moved }
        }
        let calendar = calendar.withLock { $0 }
        let core = makeCore(store: store, outbox: outbox, calendar: calendar)
        let setups = wearables.map { setup($0, calendar: calendar) }
        let losses = LossReport(
            store: store, opening: disk.opening, devices: wearables.map(\.id), clock: simulation.gatewayClock,
            logger: logger, confirm: disk.confirmOpening)
        hasEnded.withLock { $0 = false }
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask {
                await core.run(setups, announcing: losses)
                self.hasEnded.withLock { $0 = true }
            }
            if let runTime {
                group.addTask { [clock = simulation.gatewayClock] in try? await clock.sleep(for: runTime) }
                try await group.next()
            } else {
                try await group.waitForAll()
            }
            if runTime != nil, drawNumber(0...3) == 0 {
                trace?.note("gateway", "is asked to stop")
                core.stop()
                try? await simulation.gatewayClock.sleep(for: Self.stopTime)
            }
            // From here on, the dying gateway has no effect.
            ends.withLock { $0.append(simulation.uptime) }
            store.crash()
            // A gateway that ends in time closes its store.
            let files = Result { if !hasEnded.withLock({ $0 }) { try stores.crash() } }
            try? await disk.close()
            broker.cut("gateway")
            group.cancelAll()
            store.endRun()
            try files.get()
        }
        try damageStore()
    }

    private var logger: Logger {
        if let trace { return trace.logger }
        var logger = Logger(label: "simulation", factory: { _ in SwiftLogNoOpLogHandler() })
        logger.logLevel = .critical
        return logger
    }

    private func makeCore(store: FaultyStore, outbox: Outbox, calendar: LocalCalendar) -> GatewayCore {
        let settings = CoreSettings(
            gateway: gateway.text, version: "0", topics: ContractTopics(gateway: gateway), calendar: calendar,
            clock: simulation.gatewayClock, batchWindow: .seconds(1), logger: logger)
        return GatewayCore(
            settings: settings, store: store,
            broker: broker.client(InMemoryClientOptions(id: "gateway", version: version)), outbox: outbox,
            discovery: .off, seed: drawSeed(), reload: { [] })
    }

    private func setup(_ wearable: Wearable, calendar: LocalCalendar) -> DeviceSetup {
        let policy = DevicePolicy(sync: SyncPolicy(every: .minutes(3)), calendar: calendar)
        return DeviceSetup(
            info: DeviceInfo(id: wearable.id, name: wearable.id.text, driver: "simulated"), policy: policy,
            fingerprint: 0, opener: { body in try await wearable.connect(body) })
    }

    func draw(_ seconds: ClosedRange<Int>) -> Duration { .milliseconds(drawNumber(seconds) * 1000) }
    func drawNumber(_ range: ClosedRange<Int>) -> Int { random.withLock { Int.random(in: range, using: &$0) } }
    private func drawSeed() -> UInt64 { random.withLock { $0.next() } }
}

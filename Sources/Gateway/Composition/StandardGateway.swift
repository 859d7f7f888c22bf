import Concurrency
import Contract
import Delivery
import Engines
import GatewayKit
import HomeAssistant
import Listening
import Logging
import MQTT
import Mosquitto
package import Recordings
import ServiceLifecycle
import Store
import Vitals
import Web

extension GatewayServices {
    /// The gateway as shipped: the configured devices, SQLite, and libmosquitto.
    package static let standard: Composition = GatewayServices.composition(recordingTo: nil)

    /// The gateway as shipped, which records the links of its devices.
    package static func composition(recordingTo recorder: LinkRecorder?) -> Composition {
        { configuration, read, logger in
            try assemble(configuration, read, recorder: recorder, logger: logger)
        }
    }

    private static func assemble(
        _ configuration: GatewayConfiguration,
        _ read: @escaping @Sendable () throws(ConfigurationError) -> GatewayConfiguration, recorder: LinkRecorder?,
        logger: Logger
    ) throws -> GatewayServices {
        let budget = DescriptorBudget(limit: DescriptorLimit.current)
        // Before anything is opened.
        try budget.checkReserve()
        let clock = GatewayClock.system
        var generator = SystemRandomNumberGenerator()
        let outbox = Outbox()
        let events = EventHub(since: clock.now)
        let store = try SQLiteStore(
            path: configuration.store.path,
            options: StoreOptions(
                configuration.store, marksPendingStatistics: configuration.homeAssistant.address != nil),
            now: clock.now,
            newIdentity: SampleID(random: &generator),
            onCommit: { entries in
                outbox.committed(entries)
                for case .fact(let fact) in entries { events.add(fact) }
            })
        let settings = CoreSettings(
            gateway: configuration.id.text, version: GatewayVersion.current, topics: configuration.topics,
            calendar: configuration.calendar, clock: clock, batchWindow: configuration.store.batchWindow,
            logger: logger, recorder: recorder)
        var options = configuration.mqtt.brokerOptions
        options.will = ContractEncoder(topics: settings.topics, calendar: settings.calendar)
            .gatewayStatus(isOnline: false)
        let broker = try MosquittoBroker(options, logger: logger)
        // It shows the core, which moves it.
        let web = Promise<WebService>()
        let running = configuration.fixedPart
        let files = BlockingQueue(label: "configuration")
        let maker = DeviceMaker(settings)
        maker.follow(configuration)
        let core = GatewayCore(
            settings: settings, store: store, broker: broker, outbox: outbox,
            discovery: configuration.discovery, seed: generator.next(), events: events,
            reload: {
                let changed = try await files.run { try running.changed(by: read) }
                // Before anything else changes: where it cannot listen, all stays as it was.
                try await web.wait().change(to: changed.web)
                return try await files.run {
                    maker.follow(changed)
                    return changed.setups(settings, budget)
                }
            })
        let view = CoreView(of: core, store: configuration.store.path)
        let (reader, commander) = (CoreReader(of: core, store), CoreCommander(of: core))
        let api = API(
            API.Sources(
                reader: reader, commander: commander, events: events, topics: settings.topics,
                calendar: settings.calendar, clock: clock, logger: logger))
        let isReachable = !(configuration.web?.listen.address.isLoopback ?? true)
        let site = PageSite.Settings(
            view: view, reader: reader, commander: commander,
            adder: configuration.deviceFiles.map { files in
                ConfiguredAdder(to: files, calendar: configuration.calendar, clock: clock, isReachable: isReachable) {
                    time in
                    await settings.scanners.scan(for: time, with: settings.services) { await core.supervisor.runs($0) }
                }
            },
            inspector: configuration.deviceFiles.map { ConfiguredInspector(of: $0) },
            gateway: configuration.id.text, clock: clock, calendar: configuration.calendar)
        let listener = WebService(configuration.web, site: site, api: api, settings: settings, budget)
        web.fulfil(listener)
        let setups = configuration.setups(settings, budget)
        let statistics = StatisticsService(configuration, store: store, settings: settings) { core.imports($0) }
        let users = [
            UserOfStore(statistics),
            UserOfStore(CoreService(core: core, store: store, setups: setups, clock: clock, logger: logger)),
        ]
        var services = GatewayServices(
            services: [
                // It ends last, so that its pages say how the stop goes, and cannot hold up the others.
                ("web", listener),
                ("made devices", maker),
                (nil, StoreService(store: store, users: users, running: settings.running, logger: logger)),
                ("statistics", users[0]),
                ("core", users[1]),
            ],
            reload: { _ = try await core.applyReload() },
            probes: core.probes(
                connection: { await broker.answer() },
                // Reading it takes a turn on the writer's queue.
                writer: { _ = await store.commitCount }, reader: { await store.answerOfReader() }),
            passing: settings.passing, report: core.livenessReport, running: settings.running)
        services.watched = { view.follow($0) }
        return services
    }
}

/// Runs the core, and lets it disconnect gracefully at the end.
private struct CoreService: Service {
    let core: GatewayCore
    let store: SQLiteStore
    let setups: [DeviceSetup]
    let clock: GatewayClock
    let logger: Logger

    func run() async throws {
        let losses = LossReport(
            store: store, opening: store.opening, devices: setups.map(\.info.id), clock: clock, logger: logger,
            confirm: store.confirmOpening)
        if let copy = store.oldVersion {
            logger.notice(
                "The store is of this version now. A copy has the earlier one.", metadata: ["path": "\(copy)"])
        }
        if let devices = try? await store.incompleteErasures(), !devices.isEmpty {
            logger.warning(
                "An erasure was cut short; the broker may still have what was erased. End the gateway, and erase again.",
                metadata: ["devices": "\(devices.map(\.text).joined(separator: ", "))"])
        }
        await withGracefulShutdownHandler {
            await core.run(setups, announcing: losses)
        } onGracefulShutdown: {
            core.stop()
        }
    }
}

extension StoreOptions {
    /// The limits of the configuration file.
    fileprivate init(_ configuration: StoreConfiguration, marksPendingStatistics: Bool) {
        self.init()
        self.marksPendingStatistics = marksPendingStatistics
        outboxMaximumAge = configuration.outboxMaximumAge
        outboxMaximumBytes = configuration.outboxMaximumBytes
        replayAge = configuration.replayAge
        sampleRetention = configuration.sampleRetention
        dailyRetention = configuration.dailyRetention
    }
}

extension GatewayConfiguration {
    /// The form of the announcements to Home Assistant.
    fileprivate var discovery: DiscoverySettings { DiscoverySettings(announcements) }

    /// The content of the announcements.
    var announcements: Discovery {
        let options = DiscoveryOptions(
            mode: homeAssistant.discovery, prefix: homeAssistant.prefix, compatibility: homeAssistant.compatibility)
        let origin = DiscoveryOrigin(version: GatewayVersion.current, supportURL: Self.supportURL)
        return Discovery(options: options, topics: topics, origin: origin)
    }

    /// Where a user of Home Assistant finds help.
    private static let supportURL = "https://github.com/vitals2mqtt/vitals2mqtt"
}

import Concurrency
import GatewayKit
import HomeAssistant
import HomeAssistantStatistics
import Logging
import ServiceLifecycle
import Store
import Vitals

/// Imports statistics into Home Assistant if its address is configured, and else makes the store forget what was due.
///
/// It shares no task with the core, and nothing waits for it: a Home Assistant that hangs delays no delivery.
struct StatisticsService: Service {
    private let store: SQLiteStore
    private let clock: GatewayClock
    private let logger: Logger
    private let importer: StatisticsImporter?
    private let passing: PassingParts

    init(
        _ configuration: GatewayConfiguration, store: SQLiteStore, settings: CoreSettings,
        report: @escaping @Sendable (StatisticsState) -> Void
    ) {
        self.store = store
        clock = settings.clock
        logger = settings.logger
        passing = settings.passing
        guard let address = configuration.homeAssistant.address, let token = configuration.homeAssistant.token else {
            importer = nil
            return
        }
        let client = WebSocketClient(address, authorityFile: configuration.homeAssistant.authorityFile)
        importer = StatisticsImporter(
            settings: StatisticsSettings(
                token: token.value, discovery: configuration.announcements, calendar: settings.calendar,
                retention: configuration.store.sampleRetention, clock: settings.clock, logger: settings.logger),
            store: store, connect: { body in try await client.withConnection(body) }, report: report)
    }

    func run() async throws {
        let stopping = Promise<Void>()
        await withGracefulShutdownHandler {
            _ = await race(against: { try await stopping.wait() }) { await serve() }
            // A service that returns would end the gateway.
            try? await stopping.wait()
        } onGracefulShutdown: {
            stopping.fulfil(())
        }
    }

    private func serve() async {
        if let importer {
            let probe = LivenessProbe(.statistics) {
                await importer.answer()
                await WebSocketClient.answer()
            }
            return await passing.during(probe) { await importer.run() }
        }
        do throws(StoreError) { try await store.keepPendingStatistics(false, at: clock.now) } catch {
            logger.error("The store cannot be written.", metadata: ["error": "\(error)"])
        }
    }
}

import Concurrency
import GatewayKit
import Listening
import ServiceLifecycle
import Vitals
import Web

/// Runs the gateway's own listener (`web:`), if there is one, and moves it when a reload says so.
struct WebService: Service {
    private let server: WebServer
    private let configuration: WebConfiguration?
    /// The sessions of the pages, and what they have to do.
    private let memory = PageMemory()
    private let reporter: MetricsReporter

    init(
        _ configuration: WebConfiguration?, site: PageSite.Settings, api: API, settings: CoreSettings,
        _ budget: DescriptorBudget
    ) {
        self.configuration = configuration
        reporter = MetricsReporter(
            of: site.view, withVitals: configuration?.hasVitalMetrics ?? false, clock: settings.clock)
        let passing = settings.passing
        server = WebServer(
            settings: WebServer.Settings(
                clock: settings.clock, logger: settings.logger, senders: settings.senders,
                opener: { body in
                    try await budget.with(WebServer.descriptors) {
                        try await passing.during(LivenessProbe(.web, ask: WebServer.answer), body)
                    }
                }, streamOpener: { body in try await budget.with(1, body) })
        ) { [memory] configuration in
            let pages = PageSite(
                site, access: configuration.access, isLoopback: configuration.listen.address.isLoopback, memory: memory)
            return Router(of: site.view, api: api, pages: [pages], configuration)
        }
    }

    func run() async throws {
        let (server, configuration, memory, reporter) = (server, configuration, memory, reporter)
        await withGracefulShutdownHandler {
            await withDiscardingTaskGroup { group in
                group.addTask { await memory.run() }
                // It is cancelled at the end.
                async let _: Void = reporter.run()
                await server.run(configuration)
                memory.stop()
            }
        } onGracefulShutdown: {
            server.stop()
        }
    }

    /// Listens as a changed configuration says.
    /// - Throws: `ReloadRefusal` if it cannot. It listens as before then.
    func change(to configuration: WebConfiguration?) async throws(ReloadRefusal) {
        do throws(ListenError) { try await server.change(to: configuration) } catch {
            throw ReloadRefusal(
                "\(error) The gateway listens as before.",
                violations: [Violation(path: "web.listen", message: error.description)])
        }
    }
}

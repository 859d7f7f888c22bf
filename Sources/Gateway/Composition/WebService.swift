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

    init(
        _ configuration: WebConfiguration?, view: any GatewayView, settings: CoreSettings, _ budget: DescriptorBudget
    ) {
        self.configuration = configuration
        let passing = settings.passing
        server = WebServer(
            settings: WebServer.Settings(clock: settings.clock, logger: settings.logger) { body in
                try await budget.with(WebServer.descriptors) {
                    try await passing.during(LivenessProbe(.web, ask: WebServer.answer), body)
                }
            }
        ) { Router(of: view, $0) }
    }

    func run() async throws {
        let (server, configuration) = (server, configuration)
        await withGracefulShutdownHandler {
            await server.run(configuration)
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

import Concurrency
import Logging
import ServiceLifecycle
import Testing

@testable import Gateway

/// How a stop reaches the services.
@Suite struct StopServiceTests {
    private struct Waiting: Service {
        let ended: Promise<Void>

        func run() async throws {
            try await gracefulShutdown()
            ended.fulfil(())
        }
    }

    @Test func `a stop that is asked for before the services listen for signals ends them all the same`() async throws {
        let deadline = StopDeadline(after: .seconds(3600), begin: {}, expire: {})
        defer { deadline.end() }
        // As the signal does that comes while the gateway is put together.
        deadline.arm()
        let ended = Promise<Void>()
        let logger = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }
        let services: [any Service] = [Waiting(ended: ended), StopService(deadline: deadline)]
        try await ServiceGroup(configuration: GatewayProcess.group(of: services, logger: logger)).run()
        #expect(ended.value != nil)
    }
}

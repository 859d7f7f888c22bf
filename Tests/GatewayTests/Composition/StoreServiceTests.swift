import Concurrency
import ServiceLifecycle
import Store
import Synchronization
import TestSupport
import Testing
import Vitals

@testable import Gateway

/// The end of the store, after its users.
@Suite(.timeLimit(.minutes(2))) struct StoreServiceTests {
    /// Reads the store until it is cancelled, and a while longer, as a device does whose graceful disconnect takes long.
    private struct SlowUser: Service {
        let store: SQLiteStore
        let errors: Recorder<String>
        let isCancelled: Promise<Void>

        func run() async {
            let end = Promise<Void>()
            _ = try? await end.wait()
            isCancelled.fulfil(())
            for _ in 0..<200 {
                do throws(StoreError) { _ = try await store.knownDevices() } catch { errors.append("\(error)") }
            }
        }
    }

    @Test func `a stop that is cut short closes the store only behind those that use it`() async throws {
        let scratch = try ScratchStore()
        let store = try #require(scratch.base as? SQLiteStore)
        let (errors, isCancelled) = (Recorder<String>(), Promise<Void>())
        let log = LogRecorder()
        let user = UserOfStore(SlowUser(store: store, errors: errors, isCancelled: isCancelled))
        let running = RunningParts()
        let service = StoreService(store: store, users: [user], running: running, logger: log.logger)
        var configuration = ServiceGroupConfiguration(services: [service, user], logger: LogRecorder().logger)
        configuration.maximumGracefulShutdownDuration = .milliseconds(10)
        let group = ServiceGroup(configuration: configuration)
        await withTaskGroup { tasks in
            tasks.addTask { try? await group.run() }
            await group.triggerGracefulShutdown()
        }
        #expect(isCancelled.value != nil)
        #expect(errors.elements.isEmpty)
        #expect(running.names.isEmpty)
        #expect(log.entries.isEmpty)
        await #expect(throws: StoreError.self) { _ = try await store.knownDevices() }
    }
}

import Concurrency
import Logging
import ServiceLifecycle
import UnixSignals
import Vitals

/// A service that is listed while it runs.
struct ListedService: Service, CustomStringConvertible {
    let name: String
    let service: any Service
    let running: RunningParts

    /// The group of services keeps it. Without it that would be all that the service has, with every device.
    var description: String { name }

    func run() async throws {
        // A closure of typed errors would lose the type of the service's.
        let result = await running.during(name) { () async -> Result<Void, any Error> in
            do { return .success(try await service.run()) } catch { return .failure(error) }
        }
        try result.get()
    }
}

/// A service of the process itself.
struct ProcessService: Service {
    private let body: @Sendable () async throws -> Void

    func run() async throws { try await body() }

    /// Watches the gateway's liveness until the end. It ends last, since a part that hangs holds it up.
    static func watching(_ watch: Watchdog) -> ProcessService {
        ProcessService { await cancelWhenGracefulShutdown { await watch.run() } }
    }

    /// Reloads the configuration on each `SIGHUP`, one at a time.
    static func reloading(
        on signals: UnixSignalsSequence, _ reload: @escaping @Sendable () async throws -> Void, _ logger: Logger
    ) -> ProcessService {
        ProcessService {
            for await _ in signals.cancelOnGracefulShutdown() {
                logger.info("SIGHUP: reading the configuration again.")
                // Refusals and errors are already logged.
                try? await reload()
            }
        }
    }

    /// Reloads the configuration when the program has changed the folder of `devices_from`, one change at a time.
    static func reloading(
        after folder: DeviceFolderWatch, _ reload: @escaping @Sendable () async throws -> Void, _ logger: Logger
    ) -> ProcessService {
        ProcessService {
            while await folder.change() {
                logger.info("\(DeviceFolder.key): a device was written or removed. Reading the configuration again.")
                try? await reload()
            }
        }
    }

    /// By then the devices and the broker are connected.
    static let memoryStart: Duration = .seconds(15)
    /// Dropping the code in use costs a few hundred page faults each time.
    static let memoryInterval: Duration = .minutes(5)

    /// Gives memory back that only the start needed: once soon after it, and again now and then, since a synchronisation of
    /// weeks leaves some, too.
    static let memory = ProcessService {
        await cancelWhenGracefulShutdown {
            var wait = Self.memoryStart
            while (try? await Task.sleep(for: wait, tolerance: .seconds(1), clock: .continuous)) != nil {
                ProgramPages.releasePages()
                // A start with thousands of devices takes longer.
                wait = min(wait * 2, Self.memoryInterval)
            }
        }
    }
}

/// Ends the group when the stop begins, also where its signal came before the group listened for it; and arms the deadline of the stop
/// also where no signal began it: a service may have failed.
struct StopService: Service {
    let deadline: StopDeadline

    func run() async throws {
        try? await cancelWhenGracefulShutdown { try await deadline.begun.wait() }
        deadline.arm()
    }
}

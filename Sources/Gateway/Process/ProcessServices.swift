import Concurrency
import ServiceLifecycle
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

/// Watches the gateway's liveness until the end. It ends last, since a part that hangs holds it up.
struct WatchdogService: Service {
    let watch: Watchdog

    func run() async throws { await cancelWhenGracefulShutdown { await watch.run() } }
}

/// Gives memory back that only the start needed: once soon after it, and again now and then, since a synchronisation of
/// weeks leaves some, too.
struct MemoryService: Service {
    /// By then the devices and the broker are connected.
    static let startPeriod: Duration = .seconds(15)
    /// Dropping the code in use costs a few hundred page faults each time.
    static let interval: Duration = .minutes(5)

    func run() async throws {
        await cancelWhenGracefulShutdown {
            var wait = Self.startPeriod
            while (try? await Task.sleep(for: wait, tolerance: .seconds(1), clock: .continuous)) != nil {
                ProgramPages.releasePages()
                // A start with thousands of devices takes longer.
                wait = min(wait * 2, Self.interval)
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

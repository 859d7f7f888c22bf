import Concurrency
import Logging
import ServiceLifecycle
import Store
import Vitals

/// Keeps the store open as long as its users run, also when a stop that takes too long cancels all services at once.
///
/// It fails if the store is found to be damaged, and the gateway ends with it: nothing could be stored any more. The
/// service manager then restarts the gateway, with a new store.
struct StoreService: Service, CustomStringConvertible {
    let store: SQLiteStore
    let users: [UserOfStore]
    /// Lists the closing, and not the wait for the users: those are listed themselves.
    let running: RunningParts
    let logger: Logger

    /// The group of services keeps it. Without it that would be all that the store has.
    var description: String { "store" }

    func run() async throws {
        let damage = await withTaskGroup(of: StoreError?.self) { group in
            group.addTask { try? await store.damage() }
            group.addTask {
                try? await gracefulShutdown()
                return nil
            }
            defer { group.cancelAll() }
            return await group.next() ?? nil
        }
        if let damage { throw damage }
        for user in users { await user.hasEnded.waitUncancelled() }
        await running.during("store") {
            do throws(StoreError) { try await store.close() } catch {
                logger.error("The store cannot be closed; nothing is lost.", metadata: ["error": "\(error)"])
            }
        }
    }
}

/// A service that reads and writes the store until it ends.
struct UserOfStore: Service {
    /// Fulfilled when the service has ended, however it ended.
    let hasEnded = Promise<Void>()
    private let service: any Service

    init(_ service: any Service) { self.service = service }

    func run() async throws {
        defer { hasEnded.fulfil(()) }
        try await service.run()
    }
}

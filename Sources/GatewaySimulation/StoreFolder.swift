package import Delivery
import Foundation
import Gateway
import GatewayKit
package import GatewayTesting
package import Store
package import StoreAPI
import Vitals

/// A folder for one world's store, which outlives crashes of the gateway. It is in memory if the system allows it: a
/// thousand worlds would wear out a disk, and these tests do not cover power failures.
package struct StoreFolder: Sendable {
    private let path: String

    package init() throws {
        let memory = "/dev/shm"
        let base =
            FileManager.default.isWritableFile(atPath: memory)
            ? URL(filePath: memory) : FileManager.default.temporaryDirectory
        let folder = base.appending(path: "vitals2mqtt-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        path = folder.path
    }

    /// Opens the store as a starting gateway would, on the simulation's executor.
    package func open(_ simulation: Simulation, outbox: Outbox) throws -> SQLiteStore {
        try open(simulation) { outbox.committed($0) }
    }

    /// Opens the store with another receiver for the entries of each commit.
    package func open(_ simulation: Simulation, onCommit: @escaping @Sendable ([OutboxEntry]) -> Void) throws
        -> SQLiteStore
    {
        var random = simulation.random()
        return try SQLiteStore(
            path: "\(path)/vitals.sqlite", executor: simulation.executor.serialExecutor(),
            reading: simulation.executor.serialExecutor(),
            pause: { try? await simulation.gatewayClock.sleep(for: $0) }, now: simulation.date,
            newIdentity: SampleID(random: &random), onCommit: onCommit)
    }

    package func remove() { try? FileManager.default.removeItem(atPath: path) }
}

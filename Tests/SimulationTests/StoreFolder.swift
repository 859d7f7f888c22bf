import Foundation
import Gateway
import GatewayKit
import GatewayTesting
import Store
import Vitals

/// A folder for one world's store, which outlives the gateways that crash. In memory where the system has such a place: a
/// thousand worlds would wear a disk out, and what happens at a power failure is not what these tests are about.
struct StoreFolder: Sendable {
    private let path: String

    init() throws {
        let memory = "/dev/shm"
        let base =
            FileManager.default.isWritableFile(atPath: memory)
            ? URL(filePath: memory) : FileManager.default.temporaryDirectory
        let folder = base.appending(path: "vitals2mqtt-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        path = folder.path
    }

    /// Opens the store as a gateway that starts would, on the simulation's executor.
    func open(_ simulation: Simulation, delivery: Delivery) throws -> SQLiteStore {
        try open(simulation) { delivery.outbox.committed($0) }
    }

    /// Opens the store with somebody else who takes the facts of each commit.
    func open(_ simulation: Simulation, onCommit: @escaping @Sendable ([Fact]) -> Void) throws -> SQLiteStore {
        var random = simulation.random()
        return try SQLiteStore(
            path: "\(path)/vitals.sqlite", executor: simulation.executor.serialExecutor(),
            reading: simulation.executor.serialExecutor(), now: simulation.date,
            newIdentity: SampleID(random: &random), onCommit: onCommit)
    }

    func remove() { try? FileManager.default.removeItem(atPath: path) }
}

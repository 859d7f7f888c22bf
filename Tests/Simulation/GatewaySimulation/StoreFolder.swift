package import Delivery
import Foundation
import Gateway
import GatewayKit
package import GatewayTesting
package import Store
import Synchronization
import TestSupport
package import Vitals

/// A folder for one environment's store, which outlives crashes of the gateway. It is in memory if the system allows it: a
/// thousand runs would wear out a disk, and these tests do not cover power failures.
package final class StoreFolder: Sendable {
    private let folder: URL
    private struct State {
        /// The number of crashes. Each run after a crash has its own folder.
        var crashes = 0
        /// What the checks after crashes found.
        var issues: [String] = []
    }
    private let state = Mutex(State())

    package init() throws {
        let memory = "/dev/shm"
        let base =
            FileManager.default.isWritableFile(atPath: memory)
            ? URL(filePath: memory) : FileManager.default.temporaryDirectory
        folder = base.appending(path: "vitals2mqtt-\(UUID().uuidString)")
        try Self.make(runFolder(0))
    }

    private func runFolder(_ number: Int) -> URL { folder.appending(path: "\(number)") }

    private static func make(_ folder: URL) throws {
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    }

    /// Where the store is now.
    private var path: String { runFolder(state.withLock { $0.crashes }).appending(path: "vitals.sqlite").path }

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
            path: path, executor: simulation.executor.serialExecutor(),
            reading: simulation.executor.serialExecutor(),
            pause: { try? await simulation.gatewayClock.sleep(for: $0) }, now: simulation.date,
            newIdentity: SampleID(random: &random), onCommit: onCommit)
    }

    /// Lets the process die: the next `open` finds the files as they are on disk at this moment, with everything in the
    /// journal and in SQLite's log. Everything that the still open store does from now on is lost, even its closing.
    /// The files are checked.
    package func crash() throws {
        let dead = path
        let next = runFolder(state.withLock { $0.crashes } + 1)
        try Self.make(next)
        // The map of the log (`-shm`) is memory of the processes that share it, and is made anew.
        for suffix in ["", "-wal", ".reset", ".damaged"] where FileManager.default.fileExists(atPath: dead + suffix) {
            try FileManager.default.copyItem(
                atPath: dead + suffix, toPath: next.appending(path: "vitals.sqlite\(suffix)").path)
        }
        state.withLock { $0.crashes += 1 }
        // The open store keeps what it has of these files, but their memory is free as soon as it is closed.
        try FileManager.default.removeItem(at: URL(filePath: dead).deletingLastPathComponent())
        let found = try StoreCheck.findings(in: path)
        state.withLock { $0.issues += found }
    }

    /// How much of each file `damage` overwrites, in bytes: the header and the first tables.
    private static let damage = 8192

    /// Overwrites the beginning of the store, as a memory card does at its end. No gateway may have it open.
    package func damage() throws {
        let path = path
        for suffix in ["", "-wal"] where FileManager.default.fileExists(atPath: path + suffix) {
            let file = try FileHandle(forUpdating: URL(filePath: path + suffix))
            try file.write(contentsOf: Data(repeating: 0x5A, count: Self.damage))
            try file.close()
        }
    }

    /// What whole checks of the store find now, and found after each crash.
    package func issues() throws -> [String] { try state.withLock { $0.issues } + StoreCheck.findings(in: path) }

    package func remove() { try? FileManager.default.removeItem(at: folder) }
}

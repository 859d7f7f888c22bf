import GatewayKit
import GatewayTesting
import Store
import StoreAPI
import Synchronization
import Vitals

/// The faults of the world's disk.
extension World {
    /// Fills the disk for a while, at random times.
    func fillDisk() async throws {
        while !isPeaceful.withLock({ $0 }) {
            try await simulation.gatewayClock.sleep(for: draw(20...300))
            guard !isPeaceful.withLock({ $0 }) else { return }
            trace?.note("disk", "is full")
            setDisk(isFull: true)
            try await simulation.gatewayClock.sleep(for: draw(1...45))
            setDisk(isFull: false)
            trace?.note("disk", "has room")
        }
    }

    private func setDisk(isFull: Bool) {
        isDiskFull.withLock { $0 = isFull }
        diskSettings.withLock { $0.append((simulation.uptime, isFull)) }
    }

    /// How long a command takes to be on disk where a flood comes: the commands must wait for each other.
    private static let slowCommand: Duration = .milliseconds(3)

    /// A store that refuses writes while the disk is full.
    func store(on disk: SQLiteStore) -> FaultyStore {
        FaultyStore(disk) { [clock = simulation.gatewayClock] call, _ in
            if call == .begin, self.flood != nil, !self.isDiskFull.withLock({ $0 }) {
                return .delay { try? await clock.sleep(for: Self.slowCommand) }
            }
            guard call.isWrite, self.isDiskFull.withLock({ $0 }) else { return nil }
            return .failure(StoreError(.full, "The disk is full."))
        }
    }
}

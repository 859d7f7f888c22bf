import GatewayKit
import GatewayTesting
import Store
import Synchronization
import TestSupport
import Vitals

/// The faults of the simulated disk.
extension Environment {
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

    /// Damages the store, if it is time for that. No gateway runs.
    func damageStore() throws {
        let isTime = damage.withLock { time in
            guard let due = time, simulation.uptime >= due, !isPeaceful.withLock({ $0 }) else { return false }
            time = nil
            return true
        }
        guard isTime else { return }
        trace?.note("disk", "damages the store")
        try stores.damage()
        damages.withLock { $0.append(simulation.uptime) }
    }

    /// How long a gateway runs. The one that finds its store damaged runs for seconds at most, or crashes before it has done anything
    /// else: the loss must not be hidden by that.
    func drawRunTime() -> Duration {
        let last = (damages.withLock { $0.last }, ends.withLock { $0.last })
        if let damage = last.0, let end = last.1, damage >= end {
            return .milliseconds(drawNumber(0...1) * drawNumber(0...3000))
        }
        return draw(30...400)
    }
}

import Concurrency
import Gateway
import GatewayKit
import GatewayTesting
import TestSupport
import Testing
import Vitals

/// A stop while a changed configuration is read.
@Suite struct StopDuringReloadTests {
    @Test(arguments: 0..<5) func `a device that a reload adds during a stop does not begin`(seed: UInt64) throws {
        try Simulation.run(seed: seed, deadline: .hours(1)) { simulation in
            let home = try Scenario(simulation)
            // The stop waits for this device.
            let (end, read) = (Promise<Void>(), Promise<Void>())
            let setups = [try home.device("band"), try home.stuck("stuck", until: end)]
            try await home.run(setups) {
                try await home.settled("band")
                let core = try #require(home.core)
                home.holdReload(until: read)
                home.write(.success(setups + [try home.device("ring")]))
                try await withThrowingTaskGroup { group in
                    group.addTask { try await core.applyReload() }
                    try await simulation.gatewayClock.sleep(for: .seconds(1))
                    core.stop()
                    try await simulation.gatewayClock.sleep(for: .milliseconds(100))
                    read.fulfil(())
                    try await group.waitForAll()
                }
                try await simulation.gatewayClock.sleep(for: .seconds(2))
                #expect(home.connections(of: "ring") == 0)
                end.fulfil(())
            }
        }
    }
}

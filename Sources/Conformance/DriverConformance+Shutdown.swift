import GatewayKit
import Vitals

extension DriverConformance {
    /// Checks that a goodbye is quick, and reaches the device if the protocol has one.
    func checkShutdown() async -> [Finding] {
        await session(.shutdown) { session, peer, findings in
            findings.expectFailure()
            try await self.inTime("saying goodbye") { await session.shutdown() }
            guard self.expectation.saysGoodbye else { return }
            await self.expectTold("goodbye", peer, findings) { $0.contains(.goodbye) }
        }
    }
}

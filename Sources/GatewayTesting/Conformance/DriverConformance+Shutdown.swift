import GatewayKit
import Vitals

extension DriverConformance {
    /// A goodbye must not take long, and must be heard where the protocol has one.
    package func checkShutdown() async -> [String] {
        await session("shutdown") { session, peer, findings in
            findings.expectFailure()
            try await self.inTime("saying goodbye") { await session.shutdown() }
            guard self.expectation.saysGoodbye else { return }
            await self.expectTold("goodbye", peer, findings) { $0.contains(.goodbye) }
        }
    }
}

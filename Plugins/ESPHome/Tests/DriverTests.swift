import GATTHealth
import GatewayKit
import GatewayTesting
import TestSupport
import Testing
import Vitals

@testable import ESPHome

/// A driver over a proxy.
@Suite(.timeLimit(.minutes(2))) struct DriverTests {
    @Test func `what a strap measures arrives through a proxy`() async throws {
        try await withStrap(FakeProxy.Setup(key: Array(0..<32))) { ward in
            var reader = Ward.reader([:])
            let driver = HealthDriver(options: &reader)
            try await ward.whileLinked { link in
                let context = SessionContext.testing(try #require(DeviceID("strap")), clock: .system)
                try await driver.withSession(over: .gatt(link), context: context) { session in
                    #expect(session.description.identity.model == "Strap 1")
                    let strap = try #require(await ward.proxy.peripheral(Ward.strap))
                    while !strap.send([0x06, 71], from: 0x2a37) { await Task.yield() }
                    var samples: [Sample] = []
                    while samples.isEmpty, let events = try await session.nextEvents() {
                        samples += events.flatMap { $0.asSamples?.samples ?? [] }
                    }
                    #expect(samples.map(\.reading) == [.value(71)])
                }
            }
        }
    }
}

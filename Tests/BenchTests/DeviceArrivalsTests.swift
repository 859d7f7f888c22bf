import Testing

@testable import vitals2mqtt_bench

/// Checks the benchmark's own checker: an error in it would pass a bad gateway.
@Suite struct DeviceArrivalsTests {
    @Test func `distinguishes duplicates, new ids, strangers and disorder`() {
        var arrivals = DeviceArrivals()
        for key in [0, 1, 3, 2] as [Int64] { arrivals.record(key, identity: UInt64(key) + 100, isHistorical: false) }
        #expect(arrivals.outOfOrder == 1)
        arrivals.record(1, identity: 101, isHistorical: false)
        #expect(arrivals.duplicates == 1)
        #expect(arrivals.outOfOrder == 1)
        arrivals.record(1, identity: 999, isHistorical: false)
        #expect(arrivals.newIdentities == 1)
        arrivals.record(-1, identity: 7, isHistorical: false)
        arrivals.record(nil, identity: 7, isHistorical: false)
        #expect(arrivals.strangers == 2)
        #expect(arrivals.received == 4)
        #expect(arrivals.has(3))
        #expect(!arrivals.has(4))
    }

    @Test func `takes history and live values as two orders`() {
        var arrivals = DeviceArrivals()
        arrivals.record(10, identity: 1, isHistorical: false)
        arrivals.record(4, identity: 2, isHistorical: true)
        arrivals.record(11, identity: 3, isHistorical: false)
        arrivals.record(5, identity: 4, isHistorical: true)
        #expect(arrivals.outOfOrder == 0)
    }

    @Test func `names what was fed and never arrived`() {
        let arrivals = Arrivals(devices: 1, key: .init(base: 0, step: 1))
        let keys = FeedProcess.Keys(flooded: 3, paced: [7, 9], acknowledged: [9])
        let integrity = Integrity([keys], arrivals)
        #expect(integrity.lost == 5)
        #expect(integrity.acknowledgedLost == 1)
    }
}

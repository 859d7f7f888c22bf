import Testing

@testable import GatewaySimulation

@Suite struct LatestOrderTests {
    @Test func `an older value after a newer one is an error`() {
        var order = LatestOrder(clockSettings: [])
        #expect(order.goesBack("watch/heart_rate", to: "10:00", at: .seconds(1)) == nil)
        #expect(order.goesBack("watch/heart_rate", to: "10:05", at: .seconds(2)) == nil)
        #expect(order.goesBack("watch/blood_pressure", to: "09:00", at: .seconds(3)) == nil)
        #expect(order.goesBack("watch/heart_rate", to: "10:01", at: .seconds(4)) == "10:05")
    }

    @Test
    func `a value may go back once after a wrong clock, also when the newer one is published again with a right one`() {
        var order = LatestOrder(clockSettings: [(.seconds(10), false), (.seconds(20), true)])
        #expect(order.goesBack("watch/heart_rate", to: "10:05", at: .seconds(1)) == nil)
        #expect(order.goesBack("watch/heart_rate", to: "10:05", at: .seconds(21)) == nil)
        #expect(order.goesBack("watch/heart_rate", to: "10:01", at: .seconds(22)) == nil)
        #expect(order.goesBack("watch/heart_rate", to: "10:00", at: .seconds(23)) == "10:01")
    }

    @Test func `a value that was chosen with a wrong clock may go back`() {
        var order = LatestOrder(clockSettings: [(.seconds(10), false), (.seconds(20), true)])
        #expect(order.goesBack("watch/heart_rate", to: "10:05", at: .seconds(15)) == nil)
        #expect(order.goesBack("watch/heart_rate", to: "10:01", at: .seconds(25)) == nil)
        #expect(order.goesBack("watch/heart_rate", to: "10:00", at: .seconds(26)) == "10:01")
    }
}

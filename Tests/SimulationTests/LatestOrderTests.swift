import Testing

@testable import GatewaySimulation

@Suite struct LatestOrderTests {
    private var order = LatestOrder()

    @Test mutating func `an older value after a newer one is a mistake`() {
        #expect(order.goesBack("watch/heart_rate", to: "10:00", isClockRight: true) == nil)
        #expect(order.goesBack("watch/heart_rate", to: "10:05", isClockRight: true) == nil)
        #expect(order.goesBack("watch/blood_pressure", to: "09:00", isClockRight: true) == nil)
        #expect(order.goesBack("watch/heart_rate", to: "10:01", isClockRight: true) == "10:05")
    }

    @Test mutating func `a choice made with a wrong clock goes back once, also when it is published again with a right one`() {
        #expect(order.goesBack("watch/heart_rate", to: "10:05", isClockRight: false) == nil)
        #expect(order.goesBack("watch/heart_rate", to: "10:05", isClockRight: true) == nil)
        #expect(order.goesBack("watch/heart_rate", to: "10:01", isClockRight: true) == nil)
        #expect(order.goesBack("watch/heart_rate", to: "10:00", isClockRight: true) == "10:01")
    }
}

import Testing
import Vitals

@testable import Gateway

@Suite struct CapturedDevicesTests {
    private static let taken = ["bed-left", "scale"].compactMap { DeviceID($0) }

    private func captured() -> CapturedDevices {
        CapturedDevices(TopicFilter("home/+/BTtoMQTT/+"), level: 3, parts: ["left"], beside: Self.taken)
    }

    @Test func `each captured part becomes a device of its own, once, with an id that is free`() throws {
        var captured = captured()
        let id = try #require(DeviceID("bed-left-2"))
        let made = captured.decide("home/hall/BTtoMQTT/Bed Left")
        #expect(made == .device(id: id, part: "Bed Left"))
        // Another gateway hears the same one, and what has a device, or is no such topic, makes none.
        for topic in [
            "home/attic/BTtoMQTT/Bed Left", "home/hall/BTtoMQTT/left", "home/hall/BTtoMQTT/", "home/hall/other/x",
            "home/hall/BTtoMQTT",
        ] {
            let decision = captured.decide(topic)
            #expect(decision == .nothing, "\(topic)")
        }
    }

    @Test func `a hundred parts are devices, and a hundred further ones are named once each`() {
        var captured = captured()
        var counts: [Int] = []
        for _ in 0..<2 {
            let decisions = (0..<300).map { captured.decide("home/hall/BTtoMQTT/s\($0)") }
            counts.append(decisions.count { if case .device = $0 { true } else { false } })
            counts.append(decisions.count { if case .tooMany = $0 { true } else { false } })
        }
        // One was known.
        #expect(counts == [CapturedDevices.maximum - 1, CapturedDevices.maximum, 0, 0])
    }
}

import GatewayKit
import Testing
import Vitals

@testable import Gateway

@Suite struct CapturedDevicesTests {
    private static let taken = ["bed-left", "scale"].compactMap { DeviceID($0) }

    private func captured(
        _ parts: [String] = ["left"], except: Set<String> = [], after earlier: CapturedDevices? = nil,
        limit: Int = CapturedDevices.maximum
    ) -> CapturedDevices {
        let capture = MessageTemplate.Capture(TopicFilter("home/+/BTtoMQTT/+"), level: 3)
        return CapturedDevices(
            [capture], except: except, parts: parts, beside: Self.taken, after: earlier, limit: limit)
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

    @Test func `two parts that only look alike, in other forms of Unicode, are two devices`() {
        var captured = captured(["cafe\u{301}"])
        let decisions = ["caf\u{e9}", "cafe\u{301}", "cafe\u{300}", "\u{301}", "caf\u{e9}"].map {
            captured.decide("home/hall/BTtoMQTT/\($0)")
        }
        let ids = decisions.map { decision -> String? in
            if case .device(let id, _) = decision { id.text } else { nil }
        }
        #expect(ids == ["caf", nil, "caf-2", "device", nil])
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

    @Test func `a part that is left out, or can be no name, gets no device`() {
        var captured = captured(except: ["porch"])
        let long = String(repeating: "a", count: ConfigurationLimits.nameLength + 1)
        let decisions = ["porch", "a\u{1b}[2J", long, long].map { captured.decide("home/hall/BTtoMQTT/\($0)") }
        #expect(decisions == [.nothing, .unusable(part: "a\u{1b}[2J"), .unusable(part: long), .nothing])
    }

    @Test func `a device that is removed is not made again, and one that could not be made is`() throws {
        var first = captured()
        let topic = "home/hall/BTtoMQTT/bed"
        let made = CapturedDevices.Decision.device(id: try #require(DeviceID("bed")), part: "bed")
        var decisions = [first.decide(topic)]
        first.undo("bed")
        decisions.append(first.decide(topic))
        // A configuration that was read before the file was there has not removed it.
        var second = captured(after: first)
        decisions.append(second.decide(topic))
        #expect(decisions == [made, made, .nothing])
        let third = captured(["left", "bed"], after: second)
        #expect(third.isExpected("bed"))
        var fourth = captured(after: third)
        let later = [fourth.decide(topic), fourth.decide(topic)]
        #expect(later == [.removed(part: "bed"), .nothing])
        var restarted = captured()
        let again = restarted.decide(topic)
        #expect(again == made)
    }

    @Test func `a part that was named gets a device when there is room`() {
        var full = captured(limit: 1)
        let topic = "home/hall/BTtoMQTT/bed"
        let named = full.decide(topic)
        #expect(named == .tooMany(part: "bed"))
        var free = captured([], after: full, limit: 1)
        guard case .device = free.decide(topic) else {
            Issue.record("no device")
            return
        }
    }
}

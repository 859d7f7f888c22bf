import GatewayTesting
import MQTT
import StoreAPI
import Testing
import Vitals

@testable import Delivery

@Suite struct ShipmentMachineTests {
    private static let samples = (0..<4).map { Fixture.heartRate(60 + Double($0)) }

    private static func item(_ mark: DeliveryMark, size: Int = 100, samples: Int = 1) -> PoisonMachine.Item {
        guard case .entry(let lane, let number) = mark else {
            return PoisonMachine.Item(.other, topic: "t", size: size)
        }
        return PoisonMachine.Item(.entry(lane, number, part: 0), topic: "t", size: size, samples: samples)
    }

    @Test func `each message has a token of its own, and is found again by it`() {
        let marks: [DeliveryMark] = [
            .entry(.alert, 1), .entry(.history, 1 << 40), .part(.live, 7, 199), .part(.history, 1 << 40, 0),
            .replay(9, 3), .state,
        ]
        for mark in marks { #expect(DeliveryMark(token: mark.token) == mark) }
        #expect(Set(marks.map(\.token)).count == marks.count)
    }

    @Test func `a fact in several messages is delivered with the last of them`() {
        var machine = ShipmentMachine()
        machine.connected(limit: 1_000)
        machine.began(.live, 5, parts: [[Self.samples[0]], [Self.samples[1]]], refused: [], reason: "")
        #expect(machine.settled(.part(.live, 5, 1), refusal: nil, at: .zero) == .room)
        #expect(machine.settled(.part(.live, 5, 0), refusal: nil, at: .zero) == .delivered(.live, 5))
    }

    @Test func `of a fact in several messages the refused samples are set aside, once all are answered`() {
        var machine = ShipmentMachine()
        machine.connected(limit: 1_000)
        machine.began(
            .live, 5, parts: [[Self.samples[0]], [Self.samples[1]]], refused: [Self.samples[2]], reason: "too long")
        #expect(machine.settled(.part(.live, 5, 0), refusal: nil, at: .zero) == .room)
        guard case .aside(let fact) = machine.settled(.part(.live, 5, 1), refusal: .invalidPayload, at: .zero) else {
            Issue.record("not set aside")
            return
        }
        #expect(fact.number == 5)
        #expect(Set((fact.samples ?? []).map(\.id)) == Set(Self.samples[1...2].map(\.id)))
    }

    @Test(arguments: [
        (BrokerRefusal.invalidTopic, true), (.invalidPayload, true), (.packetTooLarge, true), (.quotaExceeded, false),
        (.other(0x83), false), (.notAuthorized, false),
    ])
    func `a refusal sets a fact aside, unless it may pass`(refusal: BrokerRefusal, isFinal: Bool) {
        var machine = ShipmentMachine()
        machine.connected(limit: nil)
        machine.sent(.entry(.live, 1), Self.item(.entry(.live, 1)))
        let outcome = machine.settled(.entry(.live, 1), refusal: refusal, at: .zero)
        if case .aside = outcome { #expect(isFinal) } else { #expect(outcome == .reconnect && !isFinal) }
    }

    @Test func `what the broker refuses for an unknown reason again and again is set aside`() {
        var machine = ShipmentMachine()
        var outcome = ShipmentMachine.Outcome.reconnect
        for _ in 0..<PoisonMachine.aloneCuts {
            #expect(outcome == .reconnect)
            machine.connected(limit: nil)
            machine.sent(.entry(.live, 1), Self.item(.entry(.live, 1)))
            outcome = machine.settled(.entry(.live, 1), refusal: .other(0x80), at: .zero)
        }
        guard case .aside = outcome else {
            Issue.record("\(outcome)")
            return
        }
    }

    @Test func `a topic that may not be written sets its facts aside once the broker took another message`() {
        var machine = ShipmentMachine()
        machine.connected(limit: nil)
        machine.sent(.state, Self.item(.state))
        #expect(machine.settled(.state, refusal: nil, at: .zero) == .room)
        machine.sent(.entry(.live, 1), Self.item(.entry(.live, 1)))
        guard case .aside = machine.settled(.entry(.live, 1), refusal: .notAuthorized, at: .zero) else {
            Issue.record("not set aside")
            return
        }
    }

    @Test func `a message of many samples that is refused as too large is tried in smaller ones`() {
        var machine = ShipmentMachine()
        machine.connected(limit: nil)
        machine.sent(.entry(.live, 1), Self.item(.entry(.live, 1), size: 20_000, samples: 60))
        #expect(machine.settled(.entry(.live, 1), refusal: .packetTooLarge, at: .zero) == .reconnect)
        #expect(machine.limit(.history, 9) == 10_000)
    }

    @Test func `a size at which the broker does not cut any more is the limit for all`() {
        var machine = ShipmentMachine()
        machine.connected(limit: nil)
        let mark = DeliveryMark.entry(.history, 1)
        var cuts = 0
        while machine.limit(.history, 1) == nil, cuts < 20 {
            cuts += 1
            machine.sent(mark, Self.item(mark, size: 20_000, samples: 60))
            #expect(machine.cut(at: .zero) == nil)
        }
        #expect(machine.limit(.history, 1) == 10_000)
        #expect(machine.limit(.history, 2) == nil)
        machine.connected(limit: nil)
        machine.began(.history, 1, parts: [Self.samples], refused: [], reason: "")
        #expect(machine.settled(.part(.history, 1, 0), refusal: nil, at: .zero) == .delivered(.history, 1))
        #expect(machine.limit(.history, 2) == 10_000)
    }

    @Test func `no more than so many blamed facts are remembered`() {
        var machine = ShipmentMachine()
        for number in 0...Int64(ShipmentMachine.maximumRemembered) {
            machine.connected(limit: nil)
            var isBlamed = false
            while !isBlamed {
                let mark = DeliveryMark.entry(.live, number)
                machine.sent(mark, Self.item(mark))
                isBlamed = machine.cut(at: .zero) != nil
            }
            #expect(machine.isCondemned(.live, number))
        }
        #expect(!machine.isCondemned(.live, 0))
    }
}

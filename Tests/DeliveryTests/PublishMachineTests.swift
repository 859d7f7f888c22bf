import MQTT
import TestSupport
import Testing
import Vitals

@testable import Delivery

@Suite struct PublishMachineTests {
    private static let samples = (0..<4).map { Fixture.heartRate(60 + Double($0)) }

    private static func item(_ mark: DeliveryMark, size: Int = 100, samples: Int = 1) -> PoisonMessageSplitter.Item {
        guard case .entry(let lane, let number) = mark else {
            return PoisonMessageSplitter.Item(.other, topic: "t", size: size)
        }
        return PoisonMessageSplitter.Item(.entry(lane, number, part: 0), topic: "t", size: size, samples: samples)
    }

    @Test func `each message has a token of its own, and is found again by it`() {
        let marks: [DeliveryMark] = [
            .entry(.alert, 1), .entry(.history, 1 << 40), .part(.live, 7, 199), .part(.history, 1 << 40, 0),
            .replay(9, 3), .state(0), .state(7),
        ]
        for mark in marks { #expect(DeliveryMark(token: mark.token) == mark) }
        #expect(Set(marks.map(\.token)).count == marks.count)
    }

    @Test func `a fact in several messages is delivered with the last of them`() {
        var machine = PublishMachine()
        machine.connected(limit: 1_000)
        machine.began(.live, 5, parts: [[Self.samples[0]], [Self.samples[1]]], refused: [], reason: "")
        #expect(machine.settled(.part(.live, 5, 1), refusal: nil, at: .zero) == .room)
        #expect(machine.settled(.part(.live, 5, 0), refusal: nil, at: .zero) == .delivered(.live, 5))
    }

    @Test func `of a fact in several messages the refused samples are quarantined, once all are answered`() {
        var machine = PublishMachine()
        machine.connected(limit: 1_000)
        machine.began(
            .live, 5, parts: [[Self.samples[0]], [Self.samples[1]]], refused: [Self.samples[2]], reason: "too long")
        #expect(machine.settled(.part(.live, 5, 0), refusal: nil, at: .zero) == .room)
        guard case .quarantine(let fact) = machine.settled(.part(.live, 5, 1), refusal: .invalidPayload, at: .zero)
        else {
            Issue.record("not quarantined")
            return
        }
        #expect(fact.number == 5)
        #expect(Set((fact.samples ?? []).map(\.id)) == Set(Self.samples[1...2].map(\.id)))
    }

    @Test(arguments: [
        (BrokerRefusal.invalidTopic, true), (.invalidPayload, true), (.packetTooLarge, true), (.quotaExceeded, false),
        (.other(0x83), false), (.notAuthorized, false),
    ])
    func `a refusal quarantines a fact, unless it may pass`(refusal: BrokerRefusal, isFinal: Bool) {
        var machine = PublishMachine()
        machine.connected(limit: nil)
        machine.sent(.entry(.live, 1), Self.item(.entry(.live, 1)), at: .zero)
        let outcome = machine.settled(.entry(.live, 1), refusal: refusal, at: .zero)
        let waits: PublishMachine.Outcome = refusal == .notAuthorized ? .held : .reconnect
        if case .quarantine = outcome { #expect(isFinal) } else { #expect(outcome == waits && !isFinal) }
    }

    @Test
    func `a connection on which the broker takes nothing holds, each longer up to a minute, until it takes something`()
    {
        var machine = PublishMachine()
        let mark = DeliveryMark.entry(.live, 1)
        for seconds in [10, 20, 40, 60, 60] {
            machine.connected(limit: nil)
            #expect(!machine.isHoldOver(at: .seconds(100)))
            for _ in 0..<2 {
                machine.sent(mark, Self.item(mark), at: .zero)
                #expect(machine.settled(mark, refusal: .notAuthorized, at: .seconds(100)) == .held)
            }
            #expect(!machine.isHoldOver(at: .seconds(100 + seconds) - .milliseconds(1)))
            #expect(machine.isHoldOver(at: .seconds(100 + seconds)))
        }
        machine.sent(.state(1), Self.item(.state(1)), at: .zero)
        #expect(machine.settled(.state(1), refusal: nil, at: .seconds(101)) == .room)
        #expect(machine.isHoldOver(at: .seconds(101)))
        machine.connected(limit: nil)
        #expect(machine.settled(mark, refusal: .notAuthorized, at: .seconds(100)) == .held)
        #expect(machine.isHoldOver(at: .seconds(110)))
    }

    @Test func `what the broker refuses for an unknown reason again and again is quarantined`() {
        var machine = PublishMachine()
        var outcome = PublishMachine.Outcome.reconnect
        for _ in 0..<PoisonMessageSplitter.aloneCuts {
            #expect(outcome == .reconnect)
            machine.connected(limit: nil)
            machine.sent(.entry(.live, 1), Self.item(.entry(.live, 1)), at: .zero)
            outcome = machine.settled(.entry(.live, 1), refusal: .other(0x80), at: .zero)
        }
        #expect(outcome.isQuarantine, "\(outcome)")
    }

    @Test func `facts of a topic that may not be written are quarantined once the broker took another message`() {
        var machine = PublishMachine()
        machine.connected(limit: nil)
        machine.sent(.state(1), Self.item(.state(1)), at: .zero)
        #expect(machine.settled(.state(1), refusal: nil, at: .zero) == .room)
        machine.sent(.entry(.live, 1), Self.item(.entry(.live, 1)), at: .zero)
        let outcome = machine.settled(.entry(.live, 1), refusal: .notAuthorized, at: .zero)
        #expect(outcome.isQuarantine, "\(outcome)")
        guard case .quarantine(let fact) = outcome else { return }
        #expect(fact.reason.hasPrefix("The broker refused it at t: notAuthorized. Let"))
    }

    @Test func `a message of many samples that is refused as too large is tried in smaller ones`() {
        var machine = PublishMachine()
        machine.connected(limit: nil)
        machine.sent(.entry(.live, 1), Self.item(.entry(.live, 1), size: 20_000, samples: 60), at: .zero)
        #expect(machine.settled(.entry(.live, 1), refusal: .packetTooLarge, at: .zero) == .reconnect)
        #expect(machine.limit(.history, 9) == 10_000)
    }

    @Test func `a size at which the broker does not cut any more is the limit for all`() {
        var machine = PublishMachine()
        machine.connected(limit: nil)
        let mark = DeliveryMark.entry(.history, 1)
        var cuts = 0
        while machine.limit(.history, 1) == nil, cuts < 20 {
            cuts += 1
            machine.sent(mark, Self.item(mark, size: 20_000, samples: 60), at: .zero)
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
        var machine = PublishMachine()
        for number in 0...Int64(PublishMachine.maximumRemembered) {
            machine.connected(limit: nil)
            var isBlamed = false
            while !isBlamed {
                let mark = DeliveryMark.entry(.live, number)
                machine.sent(mark, Self.item(mark), at: .zero)
                isBlamed = machine.cut(at: .zero) != nil
            }
            #expect(machine.isCondemned(.live, number))
        }
        #expect(!machine.isCondemned(.live, 0))
    }

    private static func cutUntilBlamed(
        _ machine: inout PublishMachine, _ mark: DeliveryMark, _ item: PoisonMessageSplitter.Item
    ) {
        for _ in 0..<200 {
            machine.connected(limit: nil)
            machine.sent(mark, item, at: .zero)
            if machine.cut(at: .zero) != nil { return }
        }
        Issue.record("never blamed")
    }

    private static func answer(_ number: Int64, size: Int, topic: String = "r", isChosen: Bool = false)
        -> PoisonMessageSplitter.Item
    {
        PoisonMessageSplitter.Item(.entry(.answer, number, part: 0), topic: topic, size: size, isChosen: isChosen)
    }

    @Test func `an answer at which the broker cuts goes in short form, and for a while so do those of its size`() {
        var machine = PublishMachine()
        let long = PublishMachine.smallestLimit * 40
        var cuts = 0
        while !machine.isTooLong(answer: 1, size: long, at: .zero), cuts < 50 {
            cuts += 1
            machine.connected(limit: nil)
            machine.sent(.entry(.answer, 1), Self.answer(1, size: long), at: .zero)
            #expect(machine.cut(at: .zero) == nil, "it is not given up")
        }
        #expect(cuts == PoisonMessageSplitter.suspectCuts + PoisonMessageSplitter.aloneCuts)
        #expect(!machine.isTooLong(answer: 2, size: long, at: .zero))
        machine.sent(.entry(.answer, 1), Self.answer(1, size: 300), at: .zero)
        #expect(machine.settled(.entry(.answer, 1), refusal: nil, at: .zero) == .delivered(.answer, 1))
        #expect(machine.isTooLong(answer: 2, size: long, at: .zero))
        #expect(!machine.isTooLong(answer: 2, size: long - 1, at: .zero))
        // Answers of other sizes on the topic change nothing.
        machine.sent(.entry(.answer, 3), Self.answer(3, size: 300), at: .zero)
        #expect(machine.settled(.entry(.answer, 3), refusal: nil, at: .zero) == .delivered(.answer, 3))
        #expect(machine.isTooLong(answer: 4, size: long, at: RefusedTopics.firstWait - .seconds(1)))
        #expect(!machine.isTooLong(answer: 4, size: long, at: RefusedTopics.firstWait))
    }

    @Test func `an answer whose short form is not taken either is given up`() {
        var machine = PublishMachine()
        let long = PublishMachine.smallestLimit * 2
        for _ in 0..<6 {
            machine.sent(.entry(.answer, 1), Self.answer(1, size: long), at: .zero)
            #expect(machine.cut(at: .zero) == nil)
        }
        #expect(machine.isTooLong(answer: 1, size: long, at: .zero))
        Self.cutUntilBlamed(&machine, .entry(.answer, 1), Self.answer(1, size: 300))
        #expect(machine.isCondemned(.answer, 1))
        #expect(!machine.isTooLong(answer: 2, size: long, at: .zero), "the topic was the reason, not the size")
    }

    @Test func `an answer that is refused as too large goes in short form`() {
        var machine = PublishMachine()
        let long = PublishMachine.smallestLimit * 2
        machine.sent(.entry(.answer, 1), Self.answer(1, size: long), at: .zero)
        #expect(machine.settled(.entry(.answer, 1), refusal: .packetTooLarge, at: .zero) == .reconnect)
        #expect(machine.isTooLong(answer: 1, size: long, at: .zero))
    }

    @Test func `a size that the broker took for facts is a limit of answers, too`() {
        var machine = PublishMachine()
        machine.connected(limit: nil)
        machine.sent(.entry(.live, 1), Self.item(.entry(.live, 1), size: 20_000, samples: 60), at: .zero)
        _ = machine.settled(.entry(.live, 1), refusal: .packetTooLarge, at: .zero)
        #expect(machine.isTooLong(answer: 1, size: 10_001, at: .zero))
        #expect(!machine.isTooLong(answer: 1, size: 10_000, at: .zero))
    }

    @Test func `after some chosen topics at which the broker cuts, no chosen topic gets an answer for ten minutes`() {
        var machine = PublishMachine()
        for number in 0..<PublishMachine.maximumClosed {
            #expect(!machine.isClosed("new", isChosen: true, at: .zero))
            Self.cutUntilBlamed(
                &machine, .entry(.answer, Int64(number)),
                Self.answer(Int64(number), size: 100, topic: "mine/\(number)", isChosen: true))
            #expect(machine.isClosed("mine/\(number)", isChosen: true, at: .zero))
        }
        #expect(machine.isClosed("new", isChosen: true, at: .zero))
        #expect(!machine.isClosed("vitals2mqtt/response", isChosen: false, at: .zero))
        #expect(!machine.isClosed("new", isChosen: true, at: PublishMachine.chosenPause))
    }

    @Test func `a quota that is exceeded at one message for ever does not stop the others for ever`() {
        var machine = PublishMachine()
        var outcome = PublishMachine.Outcome.reconnect
        var tries = 0
        while outcome == .reconnect, tries < 1_000 {
            tries += 1
            machine.connected(limit: nil)
            machine.sent(.entry(.live, 1), Self.item(.entry(.live, 1)), at: .zero)
            outcome = machine.settled(.entry(.live, 1), refusal: .quotaExceeded, at: .zero)
        }
        #expect(tries == PublishMachine.quotaTries)
        #expect(outcome.isQuarantine, "\(outcome)")
    }

    @Test func `the last careful message ends the care also if it is refused`() {
        var machine = PublishMachine()
        Self.cutUntilBlamed(&machine, .entry(.live, 1), Self.item(.entry(.live, 1)))
        var calm = 0
        for number in 2...Int64(PoisonMessageSplitter.carefulMessages + 1) {
            let mark = DeliveryMark.entry(.live, number)
            machine.sent(mark, Self.item(mark), at: .zero)
            calm += machine.noticingCalm { $0.settled(mark, refusal: .invalidTopic, at: .zero) }.isCalm ? 1 : 0
        }
        #expect(calm == 1)
    }
}

extension PublishMachine.Outcome {
    fileprivate var isQuarantine: Bool { if case .quarantine = self { true } else { false } }
}

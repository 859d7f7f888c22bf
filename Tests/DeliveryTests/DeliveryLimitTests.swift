import Concurrency
import Contract
import GatewayKit
import Logging
import MQTT
import Testing
import Vitals

@testable import Delivery

/// Checks the limits of what is held for the broker.
@Suite struct DeliveryLimitTests {
    private static let noon = Timestamp(milliseconds: 1_795_219_200_000)

    private static func settings() throws -> DeliverySettings {
        let gateway = try #require(DeviceID("home"))
        return DeliverySettings(
            topics: ContractTopics(gateway: gateway),
            calendar: try #require(LocalCalendar(identifier: "UTC")), clock: .system,
            logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() })
    }

    @Test(arguments: [(Duration.hours(1), "event/alert"), (.hours(1) + .milliseconds(1), "event/history")])
    func `an alert that could not be sent for an hour goes to the history`(age: Duration, topic: String) throws {
        let settings = try Self.settings()
        var encoder = ContractEncoder(topics: settings.topics, calendar: settings.calendar)
        let event = AlertEvent(
            id: SampleID(high: 1, low: 2), raisedID: nil, rule: AlertRule(.stress, .high), edge: .raised, value: 90,
            limit: 80, origin: .gateway, measuredAt: Self.noon, raisedAt: Self.noon, sampleID: nil)
        let fact = Fact(
            sequence: 7, lane: .alert, device: try #require(DeviceID("band")), content: .alert(event, isLate: false))
        let message = ContractCodec.encode(
            fact, info: nil, publishedAt: Self.noon + age, isReplay: false, with: &encoder)
        #expect(message.topic == "vitals2mqtt/home/band/\(topic)")
    }

    @Test func `five hundred messages that are sent once wait, and there is no room for more until half have gone`() {
        let retained = RetainedStates(wakeup: Signal())
        let message = RetainedStates.Entry.message(.answer(topic: "me", payload: [1], correlation: nil))
        #expect(!retained.putOnce(message), "there is no connection")
        retained.connect()
        for _ in 0..<RetainedStates.maximumOnce { #expect(retained.putOnce(message)) }
        #expect(!retained.putOnce(message))
        #expect(retained.next() != nil)
        #expect(retained.putOnce(message))
        #expect(!retained.putOnce(message))
    }
}

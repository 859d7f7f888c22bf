import Conformance
import GatewayKit
import GatewayTesting
import Synchronization
import TestSupport
import Testing
import Vitals

@testable import Phones

@Suite struct ValuesSessionTests {
    private static let scale = #"{"topics":[{"topic":"a/+","values":[{"metric":"weight","path":"weight"}]}]}"#
    private static let timed =
        #"{"topics":[{"topic":"a/+","values":[{"metric":"weight","path":"weight","time":"at"}]}]}"#

    /// What came of messages, in their order.
    private final class Results: Sendable {
        private let all = Mutex<(samples: [Sample], events: [DeviceEvent])>(([], []))
        var samples: [Sample] { all.withLock { $0.samples } }
        var values: [Double?] { samples.map(\.value) }
        var others: [DeviceEvent] { all.withLock { $0.events } }
        func add(_ samples: [Sample]) { all.withLock { $0.samples += samples } }
        func add(_ event: DeviceEvent) { all.withLock { $0.events.append(event) } }
    }

    /// A device with its messages, over several runs of a gateway.
    private struct Device {
        let simulation: Simulation
        let options: String
        let notes = DeviceNotes()
        let results = Results()

        /// A message that arrives now.
        func message(_ payload: String, on topic: String = "a/b", isStored: Bool = false, size: Int? = nil) -> Document
        {
            let bytes = Array(payload.utf8)
            return Document(
                bytes, mediaType: "application/json", receivedAt: simulation.date,
                message: DocumentMessage(topic: topic, isStored: isStored, size: size ?? bytes.count), holding: nil)
        }

        /// Runs a gateway with these messages, each so long after the one before, until each has its answer.
        func run(_ messages: [(after: Duration, make: @Sendable (Device) -> Document)]) async throws {
            let driver = try Publishers.driver(options).driver
            var context = try Phone.context(clock: simulation.gatewayClock)
            context.notes = notes
            for (delay, make) in messages {
                try await simulation.gatewayClock.sleep(for: delay)
                try await serve([make(self)], driver, context)
            }
        }

        /// Runs a session with these messages, which are there at once.
        func serve(_ messages: [Document], _ driver: ValuesDriver, _ context: SessionContext) async throws {
            for message in messages { _ = context.documents.add(message) }
            do {
                try await driver.withSession(over: .none, context: context) { session in
                    while let events = try await session.nextEvents() {
                        for event in events {
                            guard case .samples(let samples, let receipts) = event else {
                                results.add(event)
                                continue
                            }
                            results.add(samples)
                            try await session.settle(receipts.map { SettledReceipt($0, .new) })
                        }
                    }
                }
            } catch let error as LinkError where error.code == .ended {}
        }

        /// Runs a gateway with these payloads.
        func publish(_ payloads: [(after: Duration, payload: String)]) async throws {
            var messages: [(after: Duration, make: @Sendable (Device) -> Document)] = []
            for (after, payload) in payloads { messages.append((after, { $0.message(payload) })) }
            try await run(messages)
        }

        /// Runs a gateway with what a publisher has published.
        func publish(all publisher: String) async throws {
            var messages: [(after: Duration, make: @Sendable (Device) -> Document)] = []
            for (topic, payload) in try Publishers.messages(of: publisher) {
                messages.append((.seconds(1), { $0.message(payload, on: topic) }))
            }
            #expect(!messages.isEmpty)
            try await run(messages)
        }
    }

    private func simulate(_ options: String, _ body: @escaping @Sendable (Device) async throws -> Void) throws {
        try Simulation.run(seed: 1, deadline: .days(2)) { simulation in
            try await body(Device(simulation: simulation, options: options))
        }
    }

    // A session lasts ten seconds after its message.
    @Test func `a message that says the same within a minute is the same measurement, also for the next gateway`()
        throws
    {
        let one = #"{"weight":70,"rssi":-60}"#
        try simulate(Self.scale) { device in
            try await device.publish([(.zero, one), (.seconds(5), #"{"weight":70,"rssi":-61}"#)])
            #expect(device.results.values == [70])
            // The gateway starts again, 40 s after the first message.
            try await device.publish([(.seconds(15), one)])
            #expect(device.results.values == [70])
            try await device.publish([(.seconds(10), one), (.seconds(1), #"{"weight":71}"#), (.seconds(1), one)])
            #expect(device.results.values == [70, 70, 71, 70])
            let others = device.results.others
            #expect(others.isEmpty, "\(others)")
        }
    }

    @Test func `without a time in which it is the same each message is a measurement`() throws {
        let options = Self.scale.replacing("{\"topics\"", with: "{\"same_for\":\"0s\",\"topics\"")
        try simulate(options) { device in
            try await device.publish([(.zero, #"{"weight":70}"#), (.seconds(1), #"{"weight":70}"#)])
            #expect(device.results.values == [70, 70])
        }
    }

    @Test func `messages of one moment are as many measurements, and not one that is corrected`() throws {
        try simulate(Self.scale) { device in
            let driver = try Publishers.driver(device.options).driver
            let context = try Phone.context(clock: device.simulation.gatewayClock)
            let weights = (0..<ValuesDriver.maximumWaiting).map { 50 + Double($0) / 10 }
            try await device.serve(
                weights.map { device.message("{\"weight\":\($0)}") }, driver, context)
            #expect(device.results.values == weights)
            let starts = device.results.samples.map(\.start)
            #expect(Set(starts).count == weights.count)
            #expect(starts.allSatisfy { $0 - starts[0] < RepeatedMessages.longestBurst })
        }
    }

    @Test func `what the broker has stored counts with its own time alone, and gives the same sample after each start`()
        throws
    {
        let payload = #"{"weight":70,"at":1767600000}"#
        try simulate(Self.timed) { device in
            for _ in 0..<3 { try await device.run([(.seconds(90), { $0.message(payload, isStored: true) })]) }
            let samples = device.results.samples
            #expect(samples.count == 3 && Set(samples).count == 1)
        }
        try simulate(Self.scale) { device in
            for _ in 0..<3 { try await device.run([(.seconds(90), { $0.message(payload, isStored: true) })]) }
            #expect(device.results.samples.isEmpty)
            // The same, published again while the gateway is connected.
            try await device.publish([(.seconds(1), payload)])
            #expect(device.results.values == [70])
        }
    }

    @Test func `a message whose session ends before its samples are stored comes again, as the same sample`() throws {
        try simulate(Self.scale) { device in
            let driver = try Publishers.driver(device.options).driver
            let context = try Phone.context(clock: device.simulation.gatewayClock)
            let message = device.message(#"{"weight":70}"#)
            #expect(context.documents.add(message))
            await #expect(throws: (any Error).self) {
                try await driver.withSession(over: .none, context: context) { session in
                    _ = try await session.nextEvents()
                    throw DeviceError(.disconnected, "The gateway stops.")
                }
            }
            guard case .interrupted = try await message.answered() else {
                Issue.record("it was answered")
                return
            }
            // As `DocumentMessages` does.
            try await device.run([
                (
                    .seconds(30),
                    { _ in
                        Document(
                            message.bytes, mediaType: message.mediaType, receivedAt: message.receivedAt,
                            message: message.message, holding: nil)
                    }
                )
            ])
            #expect(device.results.values == [70])
            #expect(device.results.samples.first?.start == message.receivedAt)
        }
    }

    @Test func `what is wrong is counted by its reason, with what it is of`() throws {
        try simulate(Self.scale) { device in
            try await device.run([
                (.zero, { $0.message(#"{"weight":"x"}"#) }), (.zero, { $0.message(#"{"weight":9999}"#) }),
                (.zero, { $0.message("", size: ValuesDriver.maximumSize + 1) }),
                (.zero, { $0.message("", on: "b/c", size: ValuesDriver.maximumSize + 1) }),
            ])
            #expect(
                device.results.others == [
                    .skipped(SkippedValues(reason: "no_number", what: "weight of a/+", count: 1)),
                    .skipped(SkippedValues(reason: "out_of_range", what: "weight of a/+", count: 1)),
                    .skipped(
                        SkippedValues(
                            reason: "too_long", what: "messages of a/+", count: 1, limit: ValuesDriver.maximumSize)),
                ])
            #expect(device.results.samples.isEmpty)
        }
    }

    @Test func `the level of a battery is no sample`() throws {
        try simulate(#"{"topics":[{"topic":"+/BatteryService/BatteryLevel","values":[{"metric":"battery"}]}]}"#) {
            device in
            try await device.publish(all: "ble2mqtt")
            #expect(device.results.others == [.battery(percent: 100, isCharging: nil)])
            #expect(device.results.samples.isEmpty)
        }
    }

    @Test(arguments: [
        (
            "openmqttgateway",
            #"{"device":"C8478CD10EBE","topics":[{"topic":"home/+/BTtoMQTT/{device}","values":[{"metric":"weight","path":"weight"}]}]}"#,
            [89.7]
        ),
        (
            "openmqttgateway",
            #"{"topics":[{"topic":"home/+/BTtoMQTT/+","values":[{"metric":"weight","path":"weight","when":{"model":"XMTZC05HM"}},{"metric":"skin_temperature","path":"tempf","unit":"°F"}]}]}"#,
            [70.65, 19.2]
        ),
        (
            "esphome",
            #"{"topics":[{"topic":"scales/sensor/xiaomi_mi_scale_weight/state","values":[{"metric":"weight"}]}]}"#,
            [62.5]
        ),
        (
            "tasmota",
            #"{"topics":[{"topic":"stat/tasmota_48D204/SENSOR","values":[{"metric":"weight","path":"MISCALEV1568c44.weight","unit_path":"MISCALEV1568c44.weight_unit","when":{"MISCALEV1568c44.stabilized":"1"}}]}]}"#,
            [3.0]
        ),
        (
            "zigbee2mqtt",
            #"{"topics":[{"topic":"zigbee2mqtt/bed","values":[{"metric":"skin_temperature","path":"temperature"}]}]}"#,
            [27.34, 16.0]
        ),
        (
            "node-red",
            #"{"topics":[{"topic":"health/anna/cuff","values":[{"metric":"heart_rate","path":"pulse","time":"time"}]}]}"#,
            [64.0]
        ),
    ])
    func `what others publish becomes the samples that it says, each once`(
        publisher: String, options: String, values: [Double]
    ) throws {
        try simulate(options) { device in
            try await device.publish(all: publisher)
            #expect(device.results.values == values)
        }
    }

    // All samples come with receipts of their own, so the suite's events and receipts do not apply here.
    @Test func `the driver of values does what every driver must do`() throws {
        let violations = try Simulation.run(seed: 1, deadline: .days(10)) { simulation in
            let suite = DriverConformance(
                expecting: DriverConformance.Expectation(timeout: .hours(1)), clock: simulation.gatewayClock
            ) { body in
                let documents = ScriptedDocuments()
                let driver = try Publishers.driver(Self.scale).driver
                try await driver.withSession(
                    reading: documents, context: Phone.context(clock: simulation.gatewayClock)
                ) { session in
                    try await body(
                        session,
                        DriverConformance.Peer(
                            disconnect: { documents.finish(LinkError(.broken, "The gateway was closed.")) }))
                }
            }
            return await suite.check()
        }
        #expect(violations.isEmpty, "\(violations)")
    }

    private static func weight() throws -> ValueMessage {
        ValueMessage(
            Array("70".utf8), of: try Publishers.topic(#"[{"metric":"weight"}]"#), receivedAt: Timestamp(seconds: 0),
            isStored: false, calendar: Phone.berlin)
    }

    @Test func `while the gateway runs, more kinds of messages are remembered than a note has`() async throws {
        let repeated = RepeatedMessages(sameFor: .hours(1))
        let message = try Self.weight()
        let topics = 0...RepeatedMessages.maximumKinds
        for topic in topics {
            await repeated.remember(
                message.untimed, of: topic, at: Timestamp(seconds: Int64(topic)), in: DeviceNotes())
        }
        let now = Timestamp(seconds: 200)
        let known = topics.filter { repeated.isKnown(message.untimed, of: $0, at: now) }
        #expect(known == Array(topics.dropFirst()))
    }

    @Test func `a note has the newest kinds of messages that fit`() async throws {
        let notes = DeviceNotes()
        let repeated = RepeatedMessages(sameFor: .hours(1))
        await repeated.load(from: notes)
        let message = try Self.weight()
        for topic in 0...RepeatedMessages.maximumKept {
            await repeated.remember(message.untimed, of: topic, at: Timestamp(seconds: Int64(topic)), in: notes)
        }
        let next = RepeatedMessages(sameFor: .hours(1))
        await next.load(from: notes)
        let now = Timestamp(seconds: 100)
        let known = (0...RepeatedMessages.maximumKept).filter { next.isKnown(message.untimed, of: $0, at: now) }
        #expect(known == Array(1...RepeatedMessages.maximumKept))
        // Nothing that was measured stands in the note.
        let note = String(decoding: try await notes.all().values.joined(), as: UTF8.self)
        #expect(!note.contains("70.0"))
    }
}

import Contract
import GatewayTesting
import JSON
import Logging
import MQTT
import TestSupport
import Testing
import Vitals

@testable import Delivery

@Suite struct RetainedStatesTests {
    @Test func `a connection begins with the gateway's info, whatever came before it`() throws {
        let states = RetainedStates(beside: Outbox())
        states.put(.stale(topic: "vitals2mqtt/home/old/link"))
        states.put(.message(.removal(of: "vitals2mqtt/home/gone/link")))
        let start = Timestamp(milliseconds: 0)
        let store = SampleID(high: 1, low: 2)
        states.put(.gatewayInfo(GatewayInfo(version: "1", store: store, startedAt: start, plugins: [], devices: [])))
        for _ in 0..<2 {
            states.connect()
            guard case .gatewayInfo(let info) = states.next() else {
                Issue.record("another state is first")
                return
            }
            #expect(info.store == store)
            guard case .message = states.next() else {
                Issue.record("the other state is not second")
                return
            }
            #expect(states.next() == nil)
            states.disconnect()
        }
    }

    @Test(arguments: MQTTVersion.allCases)
    func `the state of before a connection says with it at once which version it speaks`(version: MQTTVersion) {
        let states = RetainedStates(beside: Outbox())
        var state = GatewayState(
            broker: nil, outbox: [:], oldestUnsentAt: nil, dropped: [:], quarantined: 0, storeBytes: 0, lastError: nil,
            late: [], statistics: nil, at: Timestamp(milliseconds: 0))
        states.put(.gatewayState(state))
        states.connect(version)
        guard case .gatewayState(let sent) = states.next() else {
            Issue.record("no state is sent")
            return
        }
        #expect(sent.broker == GatewayState.connected)
        #expect(sent.protocolVersion == version.rawValue)
        state = sent
        state.describe(nil)
        #expect(state.broker == nil)
        #expect(state.protocolVersion == nil)
    }

    @Test func `the newest states of a device, and the devices, can be read at any time`() throws {
        let states = RetainedStates(beside: Outbox())
        let (band, ring) = (try #require(DeviceID("band")), try #require(DeviceID("ring")))
        #expect(states.devices == [])
        #expect(states.states(of: band, [.availability, .link]) == [])
        let info = GatewayInfo(
            version: "1", store: SampleID(high: 1, low: 2), startedAt: Timestamp(milliseconds: 0), plugins: [],
            devices: [band, ring])
        states.put(.gatewayInfo(info))
        states.put(.device(band, .availability(isOnline: false)))
        states.put(.device(band, .availability(isOnline: true)))
        states.put(.device(ring, .availability(isOnline: false)))
        #expect(states.devices == [band, ring])
        #expect(states.states(of: band, [.link, .availability]) == [.availability(isOnline: true)])
        states.forget(band)
        #expect(states.states(of: band, [.availability]) == [])
    }

    @Test func `what a forgotten device says later comes after the clearing of its topics`() throws {
        let states = RetainedStates(beside: Outbox())
        let band = try #require(DeviceID("band"))
        let info = DeviceState.info(DeviceInfo(id: band, name: "band", driver: "simulated"))
        states.connect()
        states.put(.device(band, info))
        states.forget(band)
        states.put(.stale(topic: "vitals2mqtt/home/band/info"))
        states.put(.device(band, info))
        guard case .stale = states.next(), case .device = states.next() else {
            Issue.record("the clearing is not first")
            return
        }
        #expect(states.next() == nil)
    }

    /// The first messages of a gateway with waiting facts, at a broker with this window, whose acknowledgements are late.
    private func firstTopics(
        window: Int, maximumPacketSize: Int? = nil, devices: [DeviceID], seed: UInt64
    ) throws -> [PublishedMessage] {
        try Simulation.run(seed: seed, deadline: .hours(1)) { environment in
            let outbox = Outbox()
            let scratch = try ScratchStore(environment) { outbox.committed($0) }
            let gap = Gap(metric: nil, from: nil, to: nil, count: nil, reason: .storeReset, at: environment.date)
            try await scratch.base.report(gap, of: Array(devices.prefix(3)))
            let states = RetainedStates(beside: outbox)
            states.put(.message(.removal(of: "vitals2mqtt/home/gone/link")))
            states.put(
                .gatewayInfo(
                    GatewayInfo(
                        version: "1", store: scratch.base.identity, startedAt: environment.date, plugins: [],
                        devices: devices)))
            let gateway = try #require(DeviceID("home"))
            let settings = DeliverySettings(
                topics: ContractTopics(gateway: gateway), calendar: try #require(LocalCalendar(identifier: "UTC")),
                clock: environment.gatewayClock, logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() })
            let broker = InMemoryBroker(clock: environment.trueClock, generator: environment.random())
            broker.setFaults(BrokerFaults(delay: .milliseconds(1) ... .milliseconds(200)))
            if let maximumPacketSize { broker.limitPackets(to: maximumPacketSize) }
            let observation = broker.observe("vitals2mqtt/#")
            let loop = BrokerLoop(
                broker: broker.client(InMemoryClientOptions(id: "gateway", window: window)), store: scratch.base,
                outbox: outbox, retained: states, codec: ContractCodec(settings: settings, discovery: .off),
                status: BrokerStatus(), settings: settings, inbox: { _ in }, room: {}, connected: {})
            await withTaskGroup(of: Void.self) { group in
                group.addTask { await loop.run(generator: SplitMix64(seed: seed)) }
                try? await environment.gatewayClock.sleep(for: .seconds(10))
                group.cancelAll()
            }
            return observation.messages
        }
    }

    @Test(arguments: [1, 20])
    func `no fact comes before the gateway's info, however few messages may wait for the broker`(window: Int) throws {
        let devices = ["band", "ring", "scale"].compactMap { DeviceID($0) }
        for seed: UInt64 in 0..<20 {
            let topics = try firstTopics(window: window, devices: devices, seed: seed).map(\.message.topic)
            let info = try #require(topics.firstIndex(of: "vitals2mqtt/home/gateway/info"), "seed \(seed): \(topics)")
            let fact = try #require(topics.firstIndex { $0.hasSuffix("/event/gap") }, "seed \(seed): \(topics)")
            #expect(info < fact, "seed \(seed): \(topics)")
        }
    }

    @Test func `the gateway's info leaves its devices out where the broker takes no more`() throws {
        let devices = (0..<100).compactMap { DeviceID("a-wearable-with-a-long-name-\($0)") }
        for (limit, listed) in [(2_000, 0), (nil, 100)] {
            let messages = try firstTopics(window: 20, maximumPacketSize: limit, devices: devices, seed: 1)
            let info = try #require(messages.first { $0.message.topic.hasSuffix("gateway/info") })
            let body = try JSONValue(parsing: info.message.payload)
            #expect(body["store"]?.asString?.isEmpty == false)
            #expect(body["devices"]?.asArray?.count == listed)
        }
    }
}

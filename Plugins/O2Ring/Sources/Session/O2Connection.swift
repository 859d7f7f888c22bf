import GatewayKit
import Vitals

/// A link to a ring: what is read when it opens, and what the ring sends.
final class O2Connection: Sendable {
    static let service = BluetoothUUID(0x1483_9ac4_7d7e_415c, 0x9a42_1673_40cf_2339)
    private static let requests = BluetoothUUID(0x8b00_ace7_eb0b_49b0, 0xbbe9_9aee_0a26_e1a3)
    private static let replies = BluetoothUUID(0x0734_594a_a8e7_4b1a, 0xa6b1_cd52_4305_9a57)

    let conversation: GATTConversation
    let queue: O2RequestQueue
    let recordings: O2Recordings
    private let replies: GATTCharacteristic
    private let options: O2Options
    private let context: SessionContext

    init(_ link: any GATTLink, _ options: O2Options, _ context: SessionContext) throws(DeviceError) {
        guard let target = link.characteristic(Self.requests, in: Self.service),
            let source = link.characteristic(Self.replies, in: Self.service), source.properties.canSubscribe
        else {
            throw DeviceError(
                .failure,
                "The device is no ring with the first protocol of Viatom: it has no service 14839ac4-…. An O2Ring S has another protocol."
            )
        }
        conversation = GATTConversation(over: link, with: "ring")
        self.options = options
        self.context = context
        self.replies = source
        queue = O2RequestQueue(link, requests: target, clock: context.clock)
        recordings = O2Recordings(queue, calendar: context.calendar, clock: context.clock, notes: context.notes)
    }

    /// Finds out what the ring is and has.
    func open() async throws(DeviceError) -> DeviceDescription {
        try await conversation.subscribe(to: [replies])
        let information = try await information()
        if let charge = information.charge {
            await conversation.inbox.send([.battery(percent: Double(charge), isCharging: information.isCharging)])
        }
        var metrics: [Metric: Abilities] = [.bloodOxygen: .history, .heartRate: .history, .battery: []]
        for metric in O2Alarm.metrics where O2Alarm(of: metric, in: information) != nil {
            metrics[metric]?.formUnion(metric == .heartRate ? [.alert, .restAlert] : .alert)
        }
        let identity = DeviceIdentity(
            manufacturer: nil, model: information["Model"], serial: information["SN"],
            firmware: information["SoftwareVer"],
            hardware: information["HardwareVer"])
        let clock = information.time.map { DeviceClock(now: $0.moment(in: context.calendar)) }
        return DeviceDescription(identity: identity, capabilities: Capabilities(metrics), clock: clock)
    }

    /// Asks the ring what it says about itself.
    func information() async throws(DeviceError) -> OxiInformation {
        let reply = try await queue.ask(OxiRequest(command: .information))
        do { return try OxiInformation(reply.content) } catch {
            throw DeviceError(.failure, "The ring cannot be read: \(error.problem).")
        }
    }

    /// Sets the clock to local time, which the ring shows. The time spent waiting for the turn, or for a repetition, is added.
    func setClock(_ now: Timestamp, utcOffset: Int) async throws(DeviceError) {
        let (clock, begin) = (context.clock, context.clock.uptime)
        try await queue.requests.perform { [queue] () async throws(DeviceError) in
            _ = try await queue.exchange {
                let moment = now + (clock.uptime - begin)
                return .configure([("SetTIME", LocalTime.text(moment, offset: utcOffset))])
            }
        }
    }

    /// Receives until the link ends; then the events and all calls end, too.
    func receive() async {
        await conversation.receive { value in
            guard value.characteristic == replies else { return }
            let passed = await queue.receive(value.bytes)
            guard passed > 0 else { return }
            await conversation.inbox.send([.malformed("\(passed) bytes of the ring are no part of a reply.")])
        } closing: { error in
            await queue.requests.close(error)
        }
    }

    /// Reads the present values again and again.
    func readLive() async {
        guard options.liveEvery > .zero else { return }
        var before: OxiValues?
        while !Task.isCancelled, await queue.requests.failure == nil {
            do throws(DeviceError) {
                let reply = try await queue.ask(OxiRequest(command: .values))
                let values = try OxiValues(reply.content)
                await conversation.inbox.send(events(of: values, before))
                before = values
            } catch {
                if error.code == .failure {
                    await conversation.inbox.send([.malformed("The ring's values: \(error.message)")])
                }
            }
            try? await context.clock.sleep(for: options.liveEvery)
        }
    }

    private func events(of values: OxiValues, _ before: OxiValues?) -> [DeviceEvent] {
        var events: [DeviceEvent] = []
        if values.isWorn != before?.isWorn { events.append(.wear(isWorn: values.isWorn)) }
        if values.charge != before?.charge || values.isCharging != before?.isCharging {
            events.append(.battery(percent: Double(values.charge), isCharging: values.isCharging))
        }
        guard values.isWorn else { return events }
        let now = context.clock.now
        let samples = [(Metric.bloodOxygen, values.oxygen), (.heartRate, values.pulse)].compactMap { metric, value in
            value.map { Sample(metric: metric, start: now, reading: .value(Double($0))) }
        }
        if !samples.isEmpty { events.append(.samples(samples, receipts: [])) }
        return events
    }
}

extension OxiValues {
    /// The values of a reply.
    fileprivate init(_ content: [UInt8]) throws(DeviceError) {
        do throws(FormatError) { try self.init(bytes: content) } catch { throw DeviceError(.failure, error.problem) }
    }
}

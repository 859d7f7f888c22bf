import GatewayKit
import Logging
import Vitals

/// A link to a ring: what is read when it opens, and what the ring sends.
final class O2Connection: Sendable {
    static let service = BluetoothUUID("14839ac4-7d7e-415c-9a42-167340cf2339")
    private static let requests = BluetoothUUID("8b00ace7-eb0b-49b0-bbe9-9aee0a26e1a3")
    private static let replies = BluetoothUUID("0734594a-a8e7-4b1a-a6b1-cd5243059a57")

    let link: any GATTLink
    let queue: O2RequestQueue
    let inbox = EventInbox()
    let recordings: O2Recordings
    private let replies: GATTCharacteristic
    private let options: O2Options
    private let context: SessionContext

    init(_ link: any GATTLink, _ options: O2Options, _ context: SessionContext) throws(DeviceError) {
        guard let service = Self.service, let requests = Self.requests, let replies = Self.replies,
            let target = link.characteristic(requests, in: service),
            let source = link.characteristic(replies, in: service), source.properties.canSubscribe
        else {
            throw DeviceError(
                .failure,
                "The device is no ring with the first protocol of Viatom: it has no service 14839ac4-…. An O2Ring S has another protocol."
            )
        }
        self.link = link
        self.options = options
        self.context = context
        self.replies = source
        queue = O2RequestQueue(link, requests: target, clock: context.clock)
        recordings = O2Recordings(queue, calendar: context.calendar, clock: context.clock, notes: context.notes)
    }

    /// Finds out what the ring is and has.
    func open() async throws(DeviceError) -> DeviceDescription {
        do { try await link.subscribe(to: replies) } catch { throw DeviceError(error, "The ring's answers") }
        let information = try await information()
        if let charge = information.charge {
            await inbox.send([.battery(percent: Double(charge), isCharging: information.isCharging)])
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
        try await queue.perform { (queue) async throws(DeviceError) in
            _ = try await queue.exchange {
                let moment = now + (clock.uptime - begin)
                return .configure([("SetTIME", LocalTime.text(moment, offset: utcOffset))])
            }
        }
    }

    /// Receives until the link ends; then the events and all calls end, too.
    func receive() async {
        do throws(LinkError) {
            while let value = try await link.nextValue() {
                guard value.characteristic == replies else { continue }
                let passed = await queue.receive(value.bytes)
                if passed > 0 { await inbox.send([.malformed("\(passed) bytes of the ring are no part of a reply.")]) }
            }
            await close(DeviceError(.disconnected, "The ring ended the connection."))
        } catch {
            await close(DeviceError(.link(error), "The connection"))
        }
    }

    /// Reads the present values again and again.
    func readLive() async {
        guard options.liveEvery > .zero else { return }
        var before: OxiValues?
        while !Task.isCancelled, await queue.failure == nil {
            do throws(DeviceError) {
                let reply = try await queue.ask(OxiRequest(command: .values))
                let values = try OxiValues(reply.content)
                await inbox.send(events(of: values, before))
                before = values
            } catch {
                if error.code == .failure { await inbox.send([.malformed("The ring's values: \(error.message)")]) }
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

    private func close(_ error: DeviceError) async {
        await queue.close(error)
        inbox.finish(error)
    }
}

extension OxiValues {
    /// The values of a reply.
    fileprivate init(_ content: [UInt8]) throws(DeviceError) {
        do throws(FormatError) { try self.init(bytes: content) } catch { throw DeviceError(.failure, error.problem) }
    }
}
